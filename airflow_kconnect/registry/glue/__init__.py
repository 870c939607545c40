"""AWS Glue's schema registry: its keys, and its client."""
