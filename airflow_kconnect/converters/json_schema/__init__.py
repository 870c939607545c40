"""JSON Schema with registered schemas: schemas as Confluent's JsonSchemaData has them, payloads in JSON."""
