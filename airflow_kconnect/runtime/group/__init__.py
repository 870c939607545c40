"""The runs of several connectors in one job."""
