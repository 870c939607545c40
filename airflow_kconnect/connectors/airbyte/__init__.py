"""Airbyte's Python sources as connectors: a source runs as a process, and the STATE of each stream is its offset."""
