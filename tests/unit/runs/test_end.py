"""What `complete`, `idle` and `lag` mean."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runs.end import Left, is_idle, lag_of, left_by_plan, run_start, why_incomplete

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


@pytest.mark.parametrize(
    ("notes", "max_records", "given_up", "left"),
    [
        pytest.param({}, None, False, [], id="everything"),
        pytest.param({"more": True}, 5, False, [Left.MAX_RECORDS], id="a bound"),
        pytest.param({"more": True}, None, False, [Left.MORE], id="a full plan"),
        pytest.param({"held_back": "rows since ..."}, None, False, [Left.HELD_BACK], id="rows wait"),
        pytest.param({"left_for_next_run": {"t": ""}, "more": True}, None, False, [Left.HELD_BACK], id="a table waits"),
        pytest.param({"left_for_next_run": {"t": "x"}, "more": True}, 5, False, [Left.HELD_BACK, Left.MAX_RECORDS]),
        pytest.param({}, 5, True, [Left.GIVEN_UP], id="a file was replaced"),
    ],
)
def test_what_a_plan_leaves(notes: dict[str, Any], max_records: int | None, given_up: bool, left: list[Left]) -> None:
    assert left_by_plan(notes, max_records=max_records, given_up=given_up) == left


def test_each_reason_has_a_text_and_one_of_a_later_version_stays_as_it_is() -> None:
    texts = why_incomplete([*Left, "eclipse"])
    assert (len(set(texts)), texts[-1], [text for text in texts if text in set(Left)]) == (len(Left) + 1, "eclipse", [])


@pytest.mark.parametrize(
    ("complete", "records", "idle"),
    [
        (True, {"read": 0, "written": 0}, True),
        (True, {"read": 3, "written": 3}, False),
        (True, {"read": 0, "already_done": 2}, False),
        (False, {"read": 0}, False),
    ],
)
def test_a_run_is_idle_if_it_is_complete_and_had_nothing_to_do(
    complete: bool, records: dict[str, int], idle: bool
) -> None:
    assert is_idle({"complete": complete, "records": records}) is idle


@pytest.mark.parametrize(
    ("committed", "latest", "start"),
    [
        (12, False, 12),
        (None, False, 10),
        (None, True, 18),
        (3, False, 10),
        (3, True, 10),
        (21, True, 10),
        (20, False, 20),
    ],
)
def test_where_a_run_of_a_sink_begins(committed: int | None, latest: bool, start: int) -> None:
    assert run_start(committed, 10, 18, 20, latest=latest) == start
