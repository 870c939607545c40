"""Connectors for HTTP, on top of what functions have: a source of REST APIs, and a sink that sends records."""
