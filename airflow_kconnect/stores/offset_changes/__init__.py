"""Offsets of connectors, read, altered and reset between runs (KIP-875)."""
