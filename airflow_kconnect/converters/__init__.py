"""Converters: Connect data to bytes and back, as Catalyst expressions."""
