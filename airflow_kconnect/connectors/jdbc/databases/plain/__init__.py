"""Databases that are read and written by what JDBC says of them."""
