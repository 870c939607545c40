"""The Kafka Connect model: configuration, plug-ins, schemas, records, errors. Standard library only."""
