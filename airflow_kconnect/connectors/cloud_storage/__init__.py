"""Confluent's sinks into S3, Google Cloud Storage and Azure Blob Storage, by their names and keys."""
