"""Servers of catalogs for tests of tables."""
