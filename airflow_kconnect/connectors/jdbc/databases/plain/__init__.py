"""Databases that are read by what JDBC says of them, and not written to."""
