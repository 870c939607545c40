"""Payloads: batches of Avro messages to and from Arrow, column by column."""
