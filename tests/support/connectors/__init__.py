"""Connectors and tasks that tests make up, and what runs parts of them."""
