"""Java's text formats: canonical JSON and regular expressions."""
