"""The transformations of Kafka Connect, one module each, named as in its documentation."""
