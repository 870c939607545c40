"""A source run: its plan, its tasks, and the transactions in which they write."""
