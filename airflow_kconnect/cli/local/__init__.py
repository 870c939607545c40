"""Commands about what runs on this machine: broker, registry, demo, Spark."""
