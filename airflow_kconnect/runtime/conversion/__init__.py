"""Conversion between bytes and record frames."""
