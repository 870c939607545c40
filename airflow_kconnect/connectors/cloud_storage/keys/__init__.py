"""The keys of the three sinks, and what they mean."""
