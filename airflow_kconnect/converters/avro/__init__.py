"""Avro with registered schemas: schemas as Confluent's AvroData has them, payloads decoded and encoded in batches."""
