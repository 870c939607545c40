"""The changes of the demo's lake."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from airflow_kconnect.demo.lake import LakePipeline, order_changes


def test_the_changes_are_the_same_each_time() -> None:
    assert order_changes() == order_changes()


def test_orders_are_created_changed_and_cancelled() -> None:
    assert Counter(change["op"] for change in order_changes()).keys() == {"c", "u", "d"}


def test_nothing_happens_to_an_order_that_was_cancelled() -> None:
    cancelled: set[int] = set()
    for change in order_changes():
        assert change["id"] not in cancelled
        if change["op"] == "d":
            cancelled.add(change["id"])


def test_what_is_expected_is_each_order_as_its_last_change_left_it(tmp_path: Path) -> None:
    pipeline = LakePipeline(tmp_path)
    pipeline.feed(1)
    pipeline.feed(2)
    last = {change["id"]: change for change in order_changes()}
    alive = {n: change["amount"] for n, change in last.items() if change["op"] != "d"}
    assert {row["id"]: row["amount"] for row in pipeline._expected()} == alive
