"""The status topic: states of connectors and tasks, and the topics they use, in Connect's bytes."""
