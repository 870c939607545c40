"""JDBC sinks: a task that Spark gives up in the middle of a split commits nothing, though its input seems to end."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import INT32_SCHEMA, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.runtime.process.progress import ProgressMonitor
from airflow_kconnect.runtime.report_rows import with_reports
from airflow_kconnect.runtime.sink.writer import SinkWriterSettings, sink_writer
from tests.support.databases.jdbc_sink import Sink
from tests.support.databases.postgres import PostgresServer

_ROWS = 90_000  # of which Arrow makes several batches
_PLACE = TopicPartition("t", 0)
_SHAPE = Shape(struct(("id", INT32_SCHEMA)))


def _frame(spark: SparkSession, broken_at: int) -> RecordFrame:
    broken = F.when(F.col("id") == broken_at, F.raise_error(F.lit("a source is gone"))).otherwise(F.col("id"))
    df = spark.range(0, _ROWS, 1, 1).select(
        F.col("id").alias("kafka_offset"),
        F.lit("t").alias("topic"),
        F.lit(0).alias("partition"),
        F.struct(broken.cast("int").alias("id")).alias("value"),
        F.lit(None).cast("string").alias("error"),
    )
    return RecordFrame(
        df, Union((_SHAPE,), ("value",)), topic="topic", partition="partition", carried=("kafka_offset", "error")
    )


def _run(spark: SparkSession, sink: Sink, broken_at: int) -> None:
    connector = sink.connector()
    connector.check()
    connector.take_over([_PLACE])
    rows: DataFrame = connector.render(_frame(spark, broken_at))
    split = SinkSplit("t", 0, 0, _ROWS)
    with ProgressMonitor("127.0.0.1", 1, _ROWS) as monitor:
        settings = SinkWriterSettings(
            (split,), (connector.writer(),), monitor.address, ErrorHandling("sink"), {}, {}, replayed_topics=None
        )
        with_reports(rows, sink_writer(settings)).collect()


@pytest.fixture
def sink(spark: SparkSession, postgres: PostgresServer) -> Sink:
    return Sink(spark, {**postgres.create_database().config, "auto.create": "true"})


def test_nothing_of_the_split_is_committed(spark: SparkSession, sink: Sink) -> None:
    with pytest.raises(PySparkException, match="a source is gone"):
        _run(spark, sink, broken_at=_ROWS - 5_000)
    time.sleep(3)  # the worker may live longer than its job
    assert sink.connector().stored_offsets([_PLACE]) == {_PLACE: 0}  # from the creation of the table


def test_a_whole_split_is(spark: SparkSession, sink: Sink) -> None:
    _run(spark, sink, broken_at=-1)
    assert sink.connector().stored_offsets([_PLACE]) == {_PLACE: _ROWS}
