"""A sink run: what it reads, its Spark jobs, and the writers of its splits."""
