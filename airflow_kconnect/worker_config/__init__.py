"""The configuration of a worker: what all connectors share, and what it lets them set."""
