"""Kafka Connect's internal topics, byte for byte."""
