"""The connectors that ship with airflow_kconnect."""
