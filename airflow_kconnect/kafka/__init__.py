"""A thin layer over confluent-kafka: client configs, the compacted log, transactions, admin."""
