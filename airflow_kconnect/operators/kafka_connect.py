"""The operators that run connectors: one for sources, one for sinks."""

from __future__ import annotations

from airflow_kconnect.operators.reports.reporting import ReportingOperator


class KafkaSourceOperator(ReportingOperator):
    """Runs a source connector once: new data in a file, a table, ... become records in Kafka.

    Each run continues where the last one stopped, even after a failure, and moves each record exactly once.

    .. code-block:: python

        KafkaSourceOperator(
            task_id="read_orders",
            connector={
                "name": "orders-file",
                "config": {
                    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                    "file": "/data/orders.csv",
                    "topic": "orders",
                },
            },
        )

    Backfills replay their interval, the task returns the run's report, callbacks get the report in their context: see
    `ConnectorOperator` and `ReportingOperator`. Besides the parameters below the operator takes those of
    `SparkSubmitOperator` (`conf`, `jars`, `driver_memory`, `deploy_mode`, ...), which mean the same.

    :param connector: Connect's JSON: `{"name": ..., "config": {...}}` or just the configuration, including `name`; or
        the path of a file, absolute or relative to the DAG file; or the name of a registered connector, whose
        configuration the task reads from `config.storage.topic`. (templated)
    :param worker_config: worker keys, such as `offset.storage.topic` or `group.id`; they override those of the Kafka
        connection. Not templated, and so never stored with the task.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` says how to reach
        Kafka. (templated)
    :param spark_conn_id: Airflow connection of type `spark`: `local[*]`, `spark://host:7077`, `yarn`, `k8s://...`. It
        must exist. Default: `spark_default`. (templated)
    :param conn_id: the same under the name it has in `SparkSubmitOperator`; `spark_conn_id` wins.
    :param application: a different path of the job, such as one inside a container image (`local:///...`). (templated)
    :param deferrable: free the worker slot while a job runs on YARN, Kubernetes or a service, and have a trigger wait.
        Elsewhere the driver is a child of the worker, and the task runs as usual. Default: Airflow's option
        `[operators] default_deferrable`.
    :param asset_events: whether a run records events for the topics that received records (see `topic_asset`), and says
        in those of your own outlets what it has moved.
    :param asset_partitions: whether events of your own outlets have a partition key: the start of the interval that a
        replay moves, or of the DAG run's. Needs Airflow 3.3.
    :param on_dead_letters_callback: a callback or a list of them, called after a run with bad records.
    """

    kind = "source"


class KafkaSinkOperator(ReportingOperator):
    """Runs a sink connector once: new records in its topics go to files, tables, ...

    Each run resumes from the offsets that consumer group `connect-<name>` has committed.

    .. code-block:: python

        KafkaSinkOperator(
            task_id="write_orders",
            connector={
                "name": "orders-files",
                "config": {
                    "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
                    "topics": "orders",
                    "directory": "/data/lake",
                    "format": "parquet",
                },
            },
        )

    Backfills replay their interval, the task returns the run's report, callbacks get the report in their context: see
    `ConnectorOperator` and `ReportingOperator`. Besides the parameters below the operator takes those of
    `SparkSubmitOperator` (`conf`, `jars`, `driver_memory`, `deploy_mode`, ...), which mean the same.

    :param connector: Connect's JSON: `{"name": ..., "config": {...}}` or just the configuration, including `name`; or
        the path of a file, absolute or relative to the DAG file; or the name of a registered connector, whose
        configuration the task reads from `config.storage.topic`. (templated)
    :param worker_config: worker keys, such as `offset.storage.topic` or `group.id`; they override those of the Kafka
        connection. Not templated, and so never stored with the task.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` says how to reach
        Kafka. (templated)
    :param spark_conn_id: Airflow connection of type `spark`: `local[*]`, `spark://host:7077`, `yarn`, `k8s://...`. It
        must exist. Default: `spark_default`. (templated)
    :param conn_id: the same under the name it has in `SparkSubmitOperator`; `spark_conn_id` wins.
    :param application: a different path of the job, such as one inside a container image (`local:///...`). (templated)
    :param deferrable: free the worker slot while a job runs on YARN, Kubernetes or a service, and have a trigger wait.
        Elsewhere the driver is a child of the worker, and the task runs as usual. Default: Airflow's option
        `[operators] default_deferrable`.
    :param asset_events: whether the topics that the connector reads are inlets of the task (see `topic_asset`), and the
        events of your own outlets say what it has moved.
    :param asset_partitions: whether events of your own outlets have a partition key: the start of the interval that a
        replay moves, or of the DAG run's. Needs Airflow 3.3.
    :param on_dead_letters_callback: a callback or a list of them, called after a run with bad records.
    :param on_lag_callback: the same, called after a run that left more than `lag_threshold` records.
    :param lag_threshold: number of records, in all topics together.
    """

    kind = "sink"
    ui_color = "#e6f4ea"
