"""Two DAGs that know each other by a topic only: the second one runs when the first one has written records to it.

It needs the same connections and the same folder as `example_file_pipeline`; the file is `orders.txt`.

A source's task makes an asset event for each topic that it has written records to, with their number and its offsets.
A run that finds nothing new makes none, so the sink's DAG does not run for nothing.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, topic_asset

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"
TOPIC = "example-orders"

with DAG(
    dag_id="example_asset_source",
    description="A file to Kafka; its topic is an asset.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    KafkaSourceOperator(
        task_id="read_file",
        connector={
            "name": "example-orders-source",
            "config": {
                "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                "file": f"{FOLDER}/orders.txt",
                "topic": TOPIC,
                "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            },
        },
    )

with DAG(
    dag_id="example_asset_sink",
    description="Kafka to files, whenever there are new records.",
    schedule=[topic_asset(TOPIC)],
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    KafkaSinkOperator(
        task_id="write_files",
        connector={
            "name": "example-orders-sink",
            "config": {
                "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
                "topics": TOPIC,
                "directory": f"{FOLDER}/orders",
                "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            },
        },
    )
