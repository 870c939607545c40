"""Kafka Connect for tests: its worker, its REST API, Java plug-ins."""
