"""When a sink certainly has nothing to read, and when its positions are kept."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds, Committed, Topic
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.runtime.group.idle_sinks import FRESH_MS, are_kept, at_ends
from airflow_kconnect.stores.offset_topic.records import TopicRead, sink_key
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.sink_positions import mark

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
TOPICS = {"t": Topic(2, "id")}
OWN = mark("cluster", "id")


@pytest.mark.parametrize(
    ("committed", "bounds", "idle"),
    [
        (Committed(5, OWN), Bounds(0, 5, 5), True),
        (Committed(5, OWN), Bounds(5, 5, 5), True),
        (Committed(5, OWN), Bounds(0, 6, 6), False),
        (Committed(5, OWN), Bounds(0, 5, 6), False),  # an open transaction
        (Committed(5, OWN), Bounds(0, 4, 4), False),  # brokers have lost records
        (Committed(5, ""), Bounds(0, 5, 5), False),  # another tool
        (Committed(5, mark("cluster", "other")), Bounds(0, 5, 5), False),  # created again
        (Committed(5, mark("other", "id")), Bounds(0, 5, 5), False),  # copied from another cluster
        (None, Bounds(0, 0, 0), False),  # no run yet
    ],
)
def test_a_sink_is_at_the_ends(committed: Committed | None, bounds: Bounds, idle: bool) -> None:
    others = {T1: Committed(7, OWN)}
    found = at_ends(
        [T0, T1],
        others if committed is None else {T0: committed, **others},
        {T0: bounds, T1: Bounds(0, 7, 7)},
        TOPICS,
        "cluster",
    )
    assert found == ({T0: 5, T1: 7} if idle else None)


@pytest.mark.parametrize(
    ("record", "age_ms", "kept"),
    [
        (TopicRead("id", (5, 7)), 0, True),
        (TopicRead("id", (5, 7)), FRESH_MS, True),
        (TopicRead("id", (5, 7)), FRESH_MS + 1, False),
        (TopicRead("id", (5, 6)), 0, False),
        (TopicRead("id", (5,)), 0, False),  # of fewer partitions
        (TopicRead("other", (5, 7)), 0, False),
        (TopicRead("id", (5, 7), "table offsets"), 0, False),
        (None, 0, False),
    ],
)
def test_positions_are_kept(record: TopicRead | None, age_ms: int, kept: bool) -> None:
    records = SinkRecords("g")
    if record is not None:
        records.add(LogRecord("offsets", 0, 0, 1, sink_key("g", "t"), record.encode()))
    assert are_kept({T0: 5, T1: 7}, records, TOPICS, 1 + age_ms) is kept
