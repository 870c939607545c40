"""Iceberg: what is written is staged under the name of its plan, and the table publishes each plan once."""
