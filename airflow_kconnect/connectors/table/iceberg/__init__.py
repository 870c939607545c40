"""Iceberg's own sink for Kafka Connect: its keys, as a table sink."""
