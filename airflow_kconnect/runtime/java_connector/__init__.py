"""Runs of hosted connectors."""
