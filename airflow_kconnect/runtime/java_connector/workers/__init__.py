"""The Connect workers of a run: the one here, and those on Spark's executors."""
