"""A sink that runs when it is worth it: 1000 records are waiting, or the oldest one has waited for ten minutes.

It needs the same connections and the same folder as `example_file_pipeline`, and a topic `example-clicks` that
another program writes to. Airflow's triggerer looks at the sink's lag; between its runs there is no other process.
"""

from datetime import datetime

from airflow.sdk import DAG, Asset, AssetWatcher

from airflow_kconnect import ConnectorLagTrigger, KafkaSinkOperator

SINK = {
    "name": "example-clicks-sink",
    "config": {
        "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
        "topics": "example-clicks",
        "directory": "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}/clicks",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    },
}

behind = ConnectorLagTrigger(connector=SINK, min_records=1000, min_seconds=600, poke_interval=10)
clicks = Asset("example-clicks-behind", watchers=[AssetWatcher(name="example-clicks-lag", trigger=behind)])

with DAG(
    dag_id="example_lag_pipeline",
    description="Kafka to files, when enough records are waiting.",
    schedule=[clicks],
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
):
    KafkaSinkOperator(task_id="write_files", connector=SINK)
