"""Many connectors in one DAG: a task for each file of a folder, and mapped tasks for connectors that are alike.

It needs the same connections and the same folder as `example_file_pipeline`, and in that folder the text files
`cities.txt`, `north.txt` and `south.txt`. The connector files are in `connectors/`, next to this file.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable, TaskGroup

from airflow_kconnect import KafkaSourceOperator, connectors_from_folder

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"
REGIONS = ("north", "south")

with DAG(
    dag_id="example_many_connectors",
    description="A folder of connector files, and mapped tasks.",
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    with TaskGroup("files"):
        tasks = connectors_from_folder("connectors")
        tasks["example-cities-source"] >> tasks["example-cities-sink"]

    KafkaSourceOperator.partial(
        task_id="read_region",
        # Each task is a Spark job: limits how many run at once.
        max_active_tis_per_dagrun=2,
        map_index_template="{{ task.connector.name }}",
    ).expand(
        connector=[
            {
                "name": f"example-{region}-source",
                "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                "file": f"{FOLDER}/{region}.txt",
                "topic": f"example-{region}",
                "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            }
            for region in REGIONS
        ]
    )
