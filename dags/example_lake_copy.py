"""Changes of an Iceberg table become records in Kafka, and keep a Delta table the same: new, changed and deleted rows.

The table is `shop.orders` of `example_lake_pipeline`, which needs the same connections and the same folder. Spark comes
with both formats by `pip install 'airflow-kconnect[spark,iceberg,delta]'`.

Each run moves what has changed since the last one, exactly once on both sides; anything else may read the topic too.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"
# With schemas: the sink makes columns of the fields.
JSON = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}
SOURCE = {
    "name": "orders-changes",
    "config": {
        "connector.class": "SparkTableSource",
        "table.format": "iceberg",
        "table.catalog": "lake",
        "table.catalog.type": "hadoop",
        "table.catalog.warehouse": f"{FOLDER}/lake",
        "table.name": "shop.orders",
        # The record's key; a deleted row is a record without value.
        "pk.fields": "id",
        "topic": "lake-orders",
        **JSON,
    },
}
SINK = {
    "name": "orders-copy",
    "config": {
        "connector.class": "SparkTableSink",
        "topics": "lake-orders",
        "table.format": "delta",
        "table.name.format": f"delta.`{FOLDER}/copy/orders`",
        "auto.create": "true",
        "auto.evolve": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "delete.enabled": "true",
        **JSON,
    },
}

with DAG(
    dag_id="example_lake_copy",
    description="Changes of an Iceberg table to Kafka, and from there into a Delta table: exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    read_changes = KafkaSourceOperator(task_id="read_changes", connector=SOURCE)
    write_copy = KafkaSinkOperator(task_id="write_copy", connector=SINK)

    read_changes >> write_copy
