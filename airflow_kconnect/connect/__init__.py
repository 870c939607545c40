"""The model of Kafka Connect: configuration, plug-ins, schemas, records, errors. Standard library only."""
