"""What Airflow learns about a run: asset events, metrics, callbacks, lineage."""
