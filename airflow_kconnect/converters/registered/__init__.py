"""Converters whose schemas are in a schema registry: Avro, Protobuf, JSON Schema."""
