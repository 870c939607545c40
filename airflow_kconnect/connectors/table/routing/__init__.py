"""Which records go to which table."""
