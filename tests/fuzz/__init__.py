"""Random configurations and records, answered by Kafka Connect's own classes and by ours: `python -m tests.fuzz`."""
