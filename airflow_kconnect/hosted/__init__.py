"""Hosted connectors: unmodified Java connectors in a Connect worker that lives as long as a run."""
