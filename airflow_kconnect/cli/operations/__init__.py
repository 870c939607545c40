"""Commands about connectors that are in use: states, offsets, dead letters, topics."""
