"""The positions of connectors, and what sensors and triggers wait for."""
