"""What Airflow needs in tests: its home, connections, DAGs, a complete one, operators in their context."""
