"""File connectors, as ``connect-file`` of Apache Kafka."""
