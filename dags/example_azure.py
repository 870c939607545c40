"""Records of Kafka become Avro files in Azure's Data Lake Storage.

It needs the connections `spark_default` and `kafka_default` as `example_file_pipeline` does, and

* `pip install 'airflow-kconnect[azure,avro]'`;
* a connection `azure_lake` (type `adls`) with a service principal that may write to the container (login and password,
  and the extra `tenant_id`), or with a key of the account as its password;
* the container and the account, whose names are below, and a topic `example-orders` whose records are JSON with
  schemas.

Each run writes what is new since the last one, exactly once.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator

CONTAINER, ACCOUNT = "raw", "kconnectexample"
SINK = {
    "name": "example-orders-to-azure",
    "config": {
        "connector.class": "DirectorySink",
        "topics": "example-orders",
        "directory": f"abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net/orders",
        "format": "avro",
        # No secret is in a DAG: the login is looked up by the task.
        "kconnect.store.conn_id": "azure_lake",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    },
}

with DAG(
    dag_id="example_azure",
    description="Kafka to Avro files in Azure, exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    KafkaSinkOperator(task_id="write", connector=SINK)
