"""Several connectors in one task: they share one Spark application, which starts once.

It needs the same connections and the same folder as `example_file_pipeline`, and in that folder the text files
`east.txt` and `west.txt`. The sink starts after the two sources, since it reads their topics.
"""

from datetime import datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaConnectorGroupOperator, run_params

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"
STRINGS = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
REGIONS = ("east", "west")

with DAG(
    dag_id="example_group",
    description="Two sources and a sink in one Spark application.",
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=run_params(),
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    KafkaConnectorGroupOperator(
        task_id="regions",
        connectors=[
            *(
                {
                    "name": f"example-{region}-source",
                    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                    "file": f"{FOLDER}/{region}.txt",
                    "topic": f"example-{region}",
                    **STRINGS,
                }
                for region in REGIONS
            ),
            {
                "name": "example-regions-sink",
                "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
                "topics": ",".join(f"example-{region}" for region in REGIONS),
                "directory": f"{FOLDER}/regions",
                **STRINGS,
            },
        ],
        max_parallel=2,
        # Only connectors that a retry may help are run again.
        retries=2,
        retry_delay=timedelta(minutes=1),
    )
