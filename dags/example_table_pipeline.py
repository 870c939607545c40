"""A table of a database becomes records in Kafka, and the records become Parquet files.

It needs the same connections and the same folder as `example_file_pipeline`, and in the folder a SQLite database
`stocks.db` with a table `stocks` whose column `id` only grows. The JDBC driver comes from Maven on first use.

Each run moves the rows that are new since the last one, exactly once: insert rows and run it again.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

FOLDER = "{{ var.value.get('kconnect_example_folder', '/tmp/kconnect-example') }}"

# For a database server, name an Airflow connection, which has user and password too:
#   "connection.url": "${airflow:shop:jdbc_url}"
SOURCE = {
    "name": "stocks-source",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": f"jdbc:sqlite:{FOLDER}/stocks.db",
        "table.whitelist": "stocks",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": "db-",
        # With schemas: the sink makes columns of the fields.
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
    },
}
SINK = {
    "name": "stocks-sink",
    "config": {
        "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
        "topics": "db-stocks",
        "directory": f"{FOLDER}/parquet",
        "format": "parquet",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
    },
}

with DAG(
    dag_id="example_table_pipeline",
    description="A database table to Kafka, Kafka to Parquet: only what is new, exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    read_table = KafkaSourceOperator(task_id="read_table", connector=SOURCE)
    write_parquet = KafkaSinkOperator(task_id="write_parquet", connector=SINK)

    read_table >> write_parquet
