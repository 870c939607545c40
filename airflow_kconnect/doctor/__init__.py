"""What `kconnect doctor` checks: this machine, Airflow's connections, Kafka and a connector's file."""
