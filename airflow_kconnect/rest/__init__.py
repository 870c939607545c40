"""Connect's REST API over HTTP, on the control plane: a FastAPI app, served by Airflow's API server or alone."""
