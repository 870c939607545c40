"""A thin layer over confluent-kafka: client configurations, the compacted log, transactions, admin requests."""
