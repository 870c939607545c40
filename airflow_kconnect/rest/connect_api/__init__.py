"""The endpoints of Kafka Connect, with its paths, bodies and status codes."""
