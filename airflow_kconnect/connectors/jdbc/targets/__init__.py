"""Databases that the JDBC sinks write to, one module each."""
