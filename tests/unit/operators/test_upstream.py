"""What a sink learns of the sources before it, in a replay."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.operators.upstream import with_upstream
from tests.support.connectors.connector_tasks import SINK, SOURCE, report

REPLAY = Replay(0, 3_600_000, "key")
RANGES = [{"topic": "lines", "partition": 0, "start": 5, "end": 7}]
MOVED = report(replay=str(REPLAY), ranges=RANGES)


def written(returned: dict[str, Any]) -> Sequence[Any]:
    """What a sink behind two sources and another sink gets to know."""
    with DAG("d"):
        first, second = (KafkaSourceOperator(task_id=name, connector=SOURCE) for name in ("first", "second"))
        sink, other = (KafkaSinkOperator(task_id=name, connector=SINK) for name in ("sink", "other"))
        first >> second >> sink
        other.set_upstream(first)
    ti = SimpleNamespace(xcom_pull=lambda task_ids: [returned.get(task) for task in task_ids])
    return with_upstream(REPLAY, sink, {"ti": ti}).written  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({}, []),
        ({"second": MOVED}, RANGES),
        ({"first": MOVED}, RANGES),
        ({"first": MOVED, "second": MOVED}, [*RANGES, *RANGES]),
        ({"second": [MOVED, MOVED]}, [*RANGES, *RANGES]),
        ({"second": MOVED | {"replay": "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"}}, []),
        ({"second": report("sink", replay=str(REPLAY))}, []),
        ({"second": "a text"}, []),
        ({"other": MOVED}, []),
    ],
    ids=[
        "nothing",
        "the task before",
        "one further up",
        "two",
        "mapped",
        "another interval",
        "a sink",
        "else",
        "aside",
    ],
)
def test_it_takes_what_was_replayed_before(returned: dict[str, Any], expected: list[Any]) -> None:
    assert written(returned) == expected


def test_without_tasks_before_it_knows_nothing() -> None:
    with DAG("d"):
        sink = KafkaSinkOperator(task_id="sink", connector=SINK)
    assert with_upstream(REPLAY, sink, {}) is REPLAY
