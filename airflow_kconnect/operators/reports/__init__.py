"""What Airflow learns of a run: asset events, metrics, callbacks, lineage."""
