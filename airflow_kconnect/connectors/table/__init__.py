"""Tables that Spark itself writes: Iceberg, Delta Lake and whatever else it has a format for."""
