"""The demo: a real Kafka, Airflow and Spark on this machine run two example DAGs twice; see `kconnect demo`."""
