"""Java plug-ins on this machine: installing them, and what they say about themselves."""
