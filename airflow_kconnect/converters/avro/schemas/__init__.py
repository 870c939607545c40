"""Schemas: Avro's to and from Connect's, as AvroData converts them."""
