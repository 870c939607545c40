"""Protobuf with registered schemas: schemas as Confluent's ProtobufData has them, payloads converted in batches."""
