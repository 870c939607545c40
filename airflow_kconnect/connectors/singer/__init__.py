"""Singer taps as connectors: a tap runs as a process, and its STATE is the offset."""
