"""A copy of a PostgreSQL table, kept up to date by change data capture: inserts, updates, deletions.

What it needs:

* the connections `spark_default` and `kafka_default`, as `example_file_pipeline`;
* Debezium's connector, once on the machine that runs Spark's driver:
  `kconnect plugins install io.debezium:debezium-connector-postgres:3.5.0.Final`;
* an Airflow connection `shop` (type `postgres`) with host, port, schema (the database), login and password. The server
  (PostgreSQL 14 or newer) runs with `wal_level=logical`, and the user may replicate and create publications;
* in that database a table `orders` with a primary key. The sink creates the table `orders_copy`.

The first run copies the table, each later one (every five minutes) what was changed since. Between two runs there is
no process: the replication slot keeps the changes, and with them WAL. So watch the slot, and drop it when this DAG is
no longer wanted.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

# With schemas, the default of JsonConverter: the sink makes columns of the fields.
JSON = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}
SOURCE = {
    "name": "shop-cdc",
    "config": {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "${airflow:shop:host}",
        "database.port": "${airflow:shop:port}",
        "database.user": "${airflow:shop:login}",
        "database.password": "${airflow:shop:password}",
        "database.dbname": "${airflow:shop:schema}",
        "table.include.list": "public.orders",
        "topic.prefix": "cdc",
        "plugin.name": "pgoutput",
        "slot.name": "shop_cdc",
        "publication.name": "shop_cdc",
        "publication.autocreate.mode": "filtered",
        # Each run writes something that Debezium reads and confirms, so that the WAL of other tables is released.
        "heartbeat.interval.ms": "1000",
        "heartbeat.action.query": "select pg_logical_emit_message(true, 'heartbeat', now()::text)",
        # A slot that was dropped and created again is an error, not a gap.
        "offset.mismatch.strategy": "trust_offset",
        **JSON,
    },
}
SINK = {
    "name": "shop-copy",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": "${airflow:shop:jdbc_url}",
        "topics": "cdc.public.orders",
        "table.name.format": "orders_copy",
        "auto.create": "true",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "delete.enabled": "true",
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
        **JSON,
    },
}

with DAG(
    dag_id="example_cdc",
    description="Changes of a PostgreSQL table to Kafka by Debezium, and to a copy of the table.",
    schedule=CronDataIntervalTimetable("*/5 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # A replication slot has one reader.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    capture = KafkaSourceOperator(task_id="capture", connector=SOURCE)
    copy = KafkaSinkOperator(task_id="copy", connector=SINK)

    capture >> copy
