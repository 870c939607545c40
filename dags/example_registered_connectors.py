"""One DAG per registered connector: what is in the config topic of `kafka_default` runs by its schedule.

Register connectors with Kafka Connect's REST API or with `kconnect apply`; the DAGs `kconnect.<name>` follow. This file
has no DAG of its own: without registered connectors nothing appears.
"""

from airflow_kconnect import registered_connector_dags

# Connectors without `kconnect.schedule` run once per hour.
registered_connector_dags(schedule="@hourly", retries=2)
