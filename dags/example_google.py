"""Records of Kafka become files in Google Cloud Storage, by the keys of Confluent's GCS sink.

It needs the connections `spark_default` and `kafka_default` as `example_file_pipeline` does, and

* `pip install 'airflow-kconnect[gcs]'`;
* a connection `google_lake` (type `google_cloud_platform`) with the key of a service account that may write to the
  bucket (`key_path` or `keyfile_dict`); without a key, the login of the machines is used;
* the bucket, whose name is below, and a topic `example-orders` whose records are JSON.

Each run writes what is new since the last one, exactly once. A file has records of one run, one partition and one hour
of their time, at most 100,000.
"""

from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator

BUCKET = "kconnect-example"
SINK = {
    "name": "example-orders-to-google",
    "config": {
        "connector.class": "io.confluent.connect.gcs.GcsSinkConnector",
        "topics": "example-orders",
        "gcs.bucket.name": BUCKET,
        "format.class": "io.confluent.connect.gcs.format.json.JsonFormat",
        "gcs.compression.type": "gzip",
        "flush.size": "100000",
        "partitioner.class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        "timestamp.extractor": "Record",
        "locale": "en-US",
        "timezone": "UTC",
        # No secret is in a DAG: the login is looked up by the task.
        "kconnect.store.conn_id": "google_lake",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}

with DAG(
    dag_id="example_google",
    description="Kafka to files in Google Cloud Storage, by the hour, exactly once.",
    schedule=CronDataIntervalTimetable("*/15 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["kafka-connect", "example"],
    doc_md=__doc__,
) as dag:
    KafkaSinkOperator(task_id="write", connector=SINK)
