"""What columns the records of a plan need, and how their values get into those of a table."""
