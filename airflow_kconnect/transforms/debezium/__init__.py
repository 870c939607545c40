"""Debezium's change event envelope."""
