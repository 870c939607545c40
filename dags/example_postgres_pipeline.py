"""A table of PostgreSQL becomes records in Kafka, and the records become rows of another table, exactly once.

What it needs:

* the connections `spark_default` and `kafka_default`, as `example_file_pipeline`;
* an Airflow connection `shop` (type `postgres`) with host, port, schema (the database), login and password;
* in that database a table `orders` whose column `id` only grows. The sink creates the table `orders_copy`.

On the machines that run Spark it needs `airflow-kconnect[spark,jdbc]`. Java's driver comes from Maven on first use.

Each run moves the rows that are new since the last one: insert rows and run it again.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

# URL, user and password of Airflow's connection, looked up when the task runs: rendered fields and logs have only this.
SHOP = {"connection.url": "${airflow:shop:jdbc_url}"}
# With schemas: the sink makes columns of the fields.
JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}
SOURCE = {
    "name": "shop-source",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        **SHOP,
        "table.whitelist": "orders",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": "shop-",
        **JSON,
    },
}
SINK = {
    "name": "shop-sink",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        **SHOP,
        "topics": "shop-orders",
        "table.name.format": "orders_copy",
        "auto.create": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        **JSON,
    },
}

with DAG(
    dag_id="example_postgres_pipeline",
    description="A PostgreSQL table to Kafka, Kafka to another table: only what is new, exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    read_orders = KafkaSourceOperator(task_id="read_orders", connector=SOURCE)
    write_orders = KafkaSinkOperator(task_id="write_orders", connector=SINK)

    read_orders >> write_orders
