"""Pages for tests: those of the documentation with their steps, and those in a browser."""
