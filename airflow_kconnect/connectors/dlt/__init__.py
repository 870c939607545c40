"""Sources of dlt as connectors: each resource is a source partition, and dlt's state is its offset."""
