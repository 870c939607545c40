"""File connectors, as in Apache Kafka's ``connect-file``."""
