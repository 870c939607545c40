"""A group's task: its connectors before the job, what earlier attempts have finished, and what Airflow gets to know."""
