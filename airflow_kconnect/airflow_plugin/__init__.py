"""The plugin of Airflow: Connect's REST API and the Connectors page in its API server, for Airflow's users."""
