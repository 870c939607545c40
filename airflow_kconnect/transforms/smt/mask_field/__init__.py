"""MaskField: the transformation and its replacement values."""
