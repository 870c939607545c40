"""Changes of orders become records in Kafka, and the records the present orders in an Iceberg table.

It needs the same connections and the same folder as `example_file_pipeline`, and in the folder a SQLite database
`orders.db` with a table `order_changes`: what has happened to each order, in the order of its column `seq`. Spark comes
with `pip install 'airflow-kconnect[iceberg,jdbc]'`, Iceberg's jar and the JDBC driver from Maven on first use.

Each run takes what has changed since the last one into the table, exactly once: new orders are inserted, changed ones
updated, cancelled ones deleted.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"

SOURCE = {
    "name": "orders-source",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": f"jdbc:sqlite:{FOLDER}/orders.db",
        "table.whitelist": "order_changes",
        "mode": "incrementing",
        "incrementing.column.name": "seq",
        "topic.prefix": "db-",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    },
}
SINK = {
    "name": "orders-lake",
    "config": {
        "connector.class": "SparkTableSink",
        "topics": "db-order_changes",
        "table.format": "iceberg",
        # A folder, for this example. Others: `rest`, `glue`, `hive`, `jdbc`, with the catalog's own settings.
        "table.catalog": "lake",
        "table.catalog.type": "hadoop",
        "table.catalog.warehouse": f"{FOLDER}/lake",
        "table.name.format": "shop.orders",
        # Rows that are replaced and deleted are marked in deletion vectors; version 2 has position deletes.
        "table.properties.format-version": "3",
        "auto.create": "true",
        "auto.evolve": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        # d deletes the order, all others write it.
        "delete.enabled": "true",
        "table.cdc.field": "op",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    },
}

with DAG(
    dag_id="example_lake_pipeline",
    description="Changes of a table to Kafka, Kafka to Iceberg by key: exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    read_changes = KafkaSourceOperator(task_id="read_changes", connector=SOURCE)
    write_iceberg = KafkaSinkOperator(task_id="write_iceberg", connector=SINK)

    read_changes >> write_iceberg
