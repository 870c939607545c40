"""Dead letters become again what they were: which of their headers count."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runtime.dead_letters import as_before

ROWS = "topic string, partition int, kafka_offset long, headers array<struct<key:string,value:binary>>"
TOPIC, PARTITION = "__connect.errors.topic", "__connect.errors.partition"
OFFSET = "__connect.errors.offset"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, ("dead", 7, 40)),
        ([], ("dead", 7, 40)),
        ([(TOPIC, b"mine"), (PARTITION, b"3"), (OFFSET, b"5")], ("mine", 3, 5)),
        ([(TOPIC, b"payments"), (PARTITION, b"99"), (TOPIC, b"mine"), (PARTITION, b"3")], ("mine", 3, 40)),
        ([(TOPIC, b"payments"), (PARTITION, b"3"), (OFFSET, b"5")], ("dead", 7, 40)),
        ([(TOPIC, b"\xff"), (PARTITION, b"9" * 5_000)], ("dead", 7, 40)),
        ([(TOPIC, b"mine"), (PARTITION, b"9" * 5_000), (OFFSET, b"\xff")], ("mine", 7, 40)),
    ],
    ids=["none", "no headers", "ours", "planted before ours", "a foreign topic", "garbage", "garbage beside ours"],
)
def test_only_topics_of_the_connector_are_believed(
    spark: SparkSession, headers: list[tuple[str, bytes]] | None, expected: tuple[str, int, int]
) -> None:
    rows = spark.createDataFrame([("dead", 7, 40, headers)], ROWS)
    (row,) = as_before(rows, ["mine", "other"]).collect()
    assert (row.topic, row.partition, row.replayed_offset, row.headers) == (*expected, None)
