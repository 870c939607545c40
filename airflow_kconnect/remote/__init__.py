"""The REST API of another server: kconnect's own, or that of a Connect cluster."""
