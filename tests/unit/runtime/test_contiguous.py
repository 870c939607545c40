"""How far a round of a sink got without a gap: only up to there are offsets committed."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.sink.run import contiguous
from airflow_kconnect.runtime.sink.writer import SinkReport

P, Q = TopicPartition("t", 0), TopicPartition("t", 1)
Outcome = tuple[TopicPartition, int, int, int | None]
"""Partition, start and end of a split, and the offset that its writer reached (None: it failed)."""


def outcome(outcomes: list[Outcome]) -> tuple[list[int], dict[TopicPartition, int]]:
    """Indices of the accepted splits, and the offset that each partition reached."""
    splits = [
        SinkSplit(topic_partition.topic, topic_partition.partition, start, end)
        for topic_partition, start, end, _ in outcomes
    ]
    reports = [
        SinkReport(n, end if reached is None else reached, result=None if reached is None else {})
        for n, (_, _, end, reached) in enumerate(outcomes)
    ]
    accepted, offsets = contiguous(splits, reports)
    return [report.index for _, report in accepted], offsets


@pytest.mark.parametrize(
    ("outcomes", "accepted", "offsets"),
    [
        pytest.param([], [], {}, id="nothing"),
        pytest.param([(P, 5, 10, 10)], [0], {P: 10}, id="one split"),
        pytest.param([(P, 0, 10, 10), (P, 10, 20, 20)], [0, 1], {P: 20}, id="two splits"),
        pytest.param([(P, 10, 20, 20), (P, 0, 10, 10)], [1, 0], {P: 20}, id="in any order"),
        pytest.param([(P, 0, 10, 10), (Q, 5, 9, 9)], [0, 1], {P: 10, Q: 9}, id="two partitions"),
        pytest.param([(P, 0, 10, 7)], [0], {P: 7}, id="a split that ended early"),
        pytest.param([(P, 0, 10, 0)], [0], {P: 0}, id="a split that ended at its first record"),
        pytest.param([(P, 0, 10, 7), (P, 10, 20, 20)], [0], {P: 7}, id="what follows an early end does not count"),
        pytest.param(
            [(P, 0, 10, 10), (P, 10, 20, 13), (P, 20, 30, 30)], [0, 1], {P: 13}, id="an early end in the middle"
        ),
        pytest.param([(P, 0, 10, 7), (Q, 0, 10, 10)], [0, 1], {P: 7, Q: 10}, id="an early end elsewhere"),
        pytest.param([(P, 0, 10, None)], [], {P: 0}, id="a failed split"),
        pytest.param([(P, 0, 10, None), (P, 10, 20, 20)], [], {P: 0}, id="what follows a failed split does not count"),
        pytest.param([(P, 0, 10, 10), (P, 10, 20, None)], [0], {P: 10}, id="a failed split at the end"),
        pytest.param(
            [(P, 0, 10, 10), (P, 10, 20, None), (P, 20, 30, 30)], [0], {P: 10}, id="a failed split in the middle"
        ),
        pytest.param([(P, 0, 10, None), (Q, 0, 10, 10)], [1], {P: 0, Q: 10}, id="a failed split elsewhere"),
    ],
)
def test_table(outcomes: list[Outcome], accepted: list[int], offsets: dict[TopicPartition, int]) -> None:
    assert outcome(outcomes) == (accepted, offsets)
