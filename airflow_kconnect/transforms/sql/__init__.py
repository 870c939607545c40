"""SQL as a transformation and as a predicate."""
