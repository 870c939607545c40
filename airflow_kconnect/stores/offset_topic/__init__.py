"""The offset topic: its bytes, what a run sees of it, and what a task reads from it."""
