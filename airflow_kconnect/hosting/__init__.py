"""Hosted connectors: Java classes below `plugin.path`, which a run executes in a Kafka Connect worker of its own."""
