"""What a whole configuration must be: the keys of connectors, stages and workers, and the rules between them."""
