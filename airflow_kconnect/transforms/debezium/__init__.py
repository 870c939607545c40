"""Debezium's envelope of changes."""
