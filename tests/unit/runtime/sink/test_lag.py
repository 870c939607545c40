"""The lag of a sink after a run."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.sink.lag import lag_of

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


@pytest.mark.parametrize(
    ("reached", "ends", "by_topic", "largest"),
    [
        pytest.param({A0: 5, A1: 1, B0: 3}, {A0: 7, A1: 4, B0: 3}, {"a": 5, "b": 0}, 3, id="by topic, and the largest"),
        pytest.param({}, {}, {}, None, id="no partition"),
        pytest.param({A0: 5}, {A0: 4}, {"a": 0}, 0, id="never negative"),
    ],
)
def test_lag(
    reached: dict[TopicPartition, int], ends: dict[TopicPartition, int], by_topic: dict[str, int], largest: int | None
) -> None:
    assert lag_of(reached, ends) == (by_topic, largest)
