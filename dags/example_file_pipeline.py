"""A file becomes records in Kafka, and the records become files: two connectors, no Connect cluster.

What it needs:

* an Airflow connection `spark_default` (type `spark`), for example with host `local[*]`;
* an Airflow connection `kafka_default` (type `kconnect`), for example with host `broker:9092`;
* a text file `input.csv` in the folder that the Airflow Variable `kconnect_example_folder` names (or the environment
  variable `AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER`); without it the folder is `/tmp/kconnect-example`.

Each run moves what is new since the last one, exactly once: append lines to the file and run it again.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"

# The configurations are those of Kafka Connect, word for word: they could be posted to a Connect cluster.
# They could also be files of their own: connector="weather_source.json".
SOURCE = {
    "name": "weather-source",
    "config": {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": f"{FOLDER}/input.csv",
        "topic": "weather",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}
SINK = {
    "name": "weather-sink",
    "config": {
        "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
        "topics": "weather",
        "directory": f"{FOLDER}/output",
        "format": "json",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}

with DAG(
    dag_id="example_file_pipeline",
    description="A file to Kafka, Kafka to files: only what is new, exactly once.",
    # A timetable with real intervals. A plain cron string has intervals of length zero, which nothing can replay.
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    read_file = KafkaSourceOperator(task_id="read_file", connector=SOURCE)
    write_files = KafkaSinkOperator(task_id="write_files", connector=SINK)

    read_file >> write_files
