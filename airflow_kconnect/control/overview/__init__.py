"""What the Connectors page shows beyond Connect's REST API: offsets, lag, freshness, dead letters."""
