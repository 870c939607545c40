"""Kafka Connect's worker in a JVM: its keys, what it is put together from, what is asked of it."""
