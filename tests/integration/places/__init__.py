"""A package, so that its servers end with its last test."""
