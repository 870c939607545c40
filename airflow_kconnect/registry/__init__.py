"""Schema registries that speak Confluent's REST API: client, keys, subject names, wire format."""
