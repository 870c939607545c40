"""Dead letters become again what they were: which of their headers count."""

from __future__ import annotations

from pyspark.sql import SparkSession

from airflow_kconnect.runtime.dead_letters import as_before

ROWS = "topic string, partition int, kafka_offset long, headers array<struct<key:string,value:binary>>"
TOPIC, PARTITION = "__connect.errors.topic", "__connect.errors.partition"
OFFSET = "__connect.errors.offset"

CASES: dict[str, tuple[list[tuple[str, bytes]] | None, tuple[str, int, int]]] = {
    "none": (None, ("dead", 7, 40)),
    "no headers": ([], ("dead", 7, 40)),
    "ours": ([(TOPIC, b"mine"), (PARTITION, b"3"), (OFFSET, b"5")], ("mine", 3, 5)),
    "planted before ours": (
        [(TOPIC, b"payments"), (PARTITION, b"99"), (TOPIC, b"mine"), (PARTITION, b"3")],
        ("mine", 3, 40),
    ),
    "a foreign topic": ([(TOPIC, b"payments"), (PARTITION, b"3"), (OFFSET, b"5")], ("dead", 7, 40)),
    "garbage": ([(TOPIC, b"\xff"), (PARTITION, b"9" * 5_000)], ("dead", 7, 40)),
    "garbage beside ours": ([(TOPIC, b"mine"), (PARTITION, b"9" * 5_000), (OFFSET, b"\xff")], ("mine", 7, 40)),
}


def test_only_topics_of_the_connector_are_believed(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("dead", 7, 40, headers) for headers, _ in CASES.values()], ROWS)
    found = as_before(rows, ["mine", "other"]).collect()
    assert [(row.topic, row.partition, row.replayed_offset, row.headers) for row in found] == [
        (*expected, None) for _, expected in CASES.values()
    ]
