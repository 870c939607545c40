"""TimestampRouter beyond the answers of Kafka Connect: missing timestamps, and records that are written now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.smt.timestamp_router import TimestampRouter

SCOPE = Scope(is_sink=False, header_converter=JsonConverter({}, is_key=False))


def _routed(spark: SparkSession, times: list[int | None], config: dict[str, str], **more: Any) -> list[tuple[Any, Any]]:
    rows = spark.createDataFrame(list(enumerate(times)), "n int, at long").withColumn("value", F.lit("x"))
    rows = rows.withColumn("error", F.lit(None).cast("string"))
    frame = RecordFrame(rows, value=single(Shape(STRING_SCHEMA), "value"), carried=("n", "error"), **more)
    routed = TimestampRouter(config).apply(frame, None, SCOPE)
    assert routed.topic is not None
    return [(row.error, row[routed.topic]) for row in routed.df.sort("n").collect()]


def test_times_of_records(spark: SparkSession) -> None:
    config = {"topic.format": "${timestamp}.${topic}.${x}.${timestamp}", "timestamp.format": "YYYY"}
    times = [0, 1703980800000, None, 2**63 - 1]
    assert _routed(spark, times, config, constant_topic="t$1", timestamp="at") == [
        (None, "1970.t$1.${x}.1970"),
        (None, "2024.t$1.${x}.2024"),
        ("Timestamp missing on record of topic t$1", None),
        ("Timestamp is out of range", None),
    ]


def test_records_without_timestamps_of_their_own_are_of_now(spark: SparkSession) -> None:
    before = datetime.now(UTC)
    [(error, topic)] = _routed(spark, [None], {"timestamp.format": "yyyyMMddHHmmss"}, constant_topic="t")
    assert error is None
    assert f"t-{before:%Y%m%d%H%M%S}" <= topic <= f"t-{datetime.now(UTC):%Y%m%d%H%M%S}"
