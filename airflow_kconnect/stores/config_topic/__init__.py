"""The config topic: connectors, tasks and target states in Connect's bytes, read as Connect reads them."""
