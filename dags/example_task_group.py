"""A file to Kafka to files as one task group: the sink's job starts only if there are records for it.

It needs the same connections and the same folder as `example_file_pipeline`; the file is `notes.txt`.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import connector_pipeline, connector_retry_policy, run_params

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"
STRINGS = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}

with DAG(
    dag_id="example_task_group",
    description="Read, wait for records, write.",
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=run_params(),
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    connector_pipeline(
        "notes",
        source={
            "name": "example-notes-source",
            "config": {
                "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                "file": f"{FOLDER}/notes.txt",
                "topic": "example-notes",
                **STRINGS,
            },
        },
        sink={
            "name": "example-notes-sink",
            "config": {
                "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
                "topics": "example-notes",
                "directory": f"{FOLDER}/notes",
                **STRINGS,
            },
        },
        sensor={"timeout": 10, "poke_interval": 2},
        retries=2,
        retry_policy=connector_retry_policy(),
    )
