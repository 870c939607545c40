"""Between bytes and record frames."""
