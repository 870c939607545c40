"""Records of one topic become Parquet files in S3, and the rows of new files there become records of another topic.

The source reads all files in that folder once: those of the sink, and those that other programs put there.

It needs the connections `spark_default` and `kafka_default` as `example_file_pipeline` does, and

* `pip install 'airflow-kconnect[s3]'`;
* a connection `aws_lake` (type `aws`) with a login that may write to the bucket, its region and, if the store is not
  Amazon's, its `endpoint_url`;
* the bucket, whose name is below, and a topic `example-orders` whose records are JSON with schemas.

Each run moves what is new since the last one, exactly once. If there are no new files, the rest is skipped.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, NewFilesSensor

BUCKET = "kconnect-example"
# With schemas: the sink makes columns of the fields, and the source fields of the columns.
JSON = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
SINK = {
    "name": "example-orders-to-s3",
    "config": {
        "connector.class": "DirectorySink",
        "topics": "example-orders",
        "directory": f"s3://{BUCKET}/raw",
        "format": "parquet",
        # No secret is in a DAG: the login is looked up by the task.
        "kconnect.store.conn_id": "aws_lake",
        **JSON,
    },
}
SOURCE = {
    "name": "example-orders-from-s3",
    "config": {
        "connector.class": "FilesSource",
        "directory": f"s3://{BUCKET}/raw/example-orders",
        "format": "parquet",
        "topic": "example-orders-again",
        "kconnect.store.conn_id": "aws_lake",
        **JSON,
    },
}

with DAG(
    dag_id="example_s3",
    description="Kafka to Parquet files in S3, and files in S3 to Kafka: only what is new, exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two runs of one connector at a time would only fence each other.
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    write = KafkaSinkOperator(task_id="write", connector=SINK)
    # Lists the files and opens none. The source alone would do, too; it begins a run to find out.
    arrived = NewFilesSensor(
        task_id="arrived", connector=SOURCE, mode="reschedule", timeout=300, poke_interval=60, soft_fail=True
    )
    read = KafkaSourceOperator(task_id="read", connector=SOURCE)

    write >> arrived >> read
