"""Databases that are read and written with nothing but what their JDBC drivers report."""
