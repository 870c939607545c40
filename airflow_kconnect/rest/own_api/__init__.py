"""Endpoints that Connect does not have, below `/v1`: what the Connectors page needs."""
