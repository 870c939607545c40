"""Validation of a whole configuration: the keys of connectors and stages, and the rules between them."""
