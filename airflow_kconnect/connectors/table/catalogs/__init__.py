"""Catalogs of Iceberg: their keys, and how a session gets one."""
