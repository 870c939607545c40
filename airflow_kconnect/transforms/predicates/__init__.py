"""Predicates of transformations."""
