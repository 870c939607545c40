"""Validation of a whole configuration: the keys of connectors, stages and workers, and the rules between them."""
