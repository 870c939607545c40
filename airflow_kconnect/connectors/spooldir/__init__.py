"""The sources of connect-spooldir by their names and keys, on top of the files source."""
