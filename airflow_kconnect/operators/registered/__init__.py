"""Registered connectors as DAGs: what is registered, a snapshot of it for DAG files, a DAG for each."""
