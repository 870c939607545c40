"""Reading, altering and resetting the offsets of connectors between runs (KIP-875)."""
