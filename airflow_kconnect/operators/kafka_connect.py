"""The operators that run connectors: one for sources, one for sinks."""

from __future__ import annotations

from airflow_kconnect.operators.reports.reporting import ReportingOperator


class KafkaSourceOperator(ReportingOperator):
    """Runs a source connector once: new data in a file, a table, ... become records in Kafka.

    Each run continues where the last one stopped, even after a failure, and moves each record exactly once. Parameters:
    see `ConnectorOperator` and `ReportingOperator`.

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
    """

    kind = "source"


class KafkaSinkOperator(ReportingOperator):
    """Runs a sink connector once: new records in its topics go to files, tables, ...

    Each run resumes from the offsets that consumer group `connect-<name>` has committed. Parameters: see
    `ConnectorOperator` and `ReportingOperator`.

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
    """

    kind = "sink"
    ui_color = "#e6f4ea"
