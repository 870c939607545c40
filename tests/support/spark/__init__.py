"""Spark for tests: real jobs, a fake spark-submit, clusters."""
