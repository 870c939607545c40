"""Comparing the offsets of two sides."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.migration.offsets import changes, compare


def entry(file: str, position: int) -> dict[str, Any]:
    return {"partition": {"filename": file}, "offset": {"position": position}}


def test_the_order_of_entries_and_members_does_not_matter() -> None:
    there = [{"partition": {"a": 1, "b": 2}, "offset": {"x": 1, "y": 2}}, entry("f", 1)]
    here = [entry("f", 1), {"partition": {"b": 2, "a": 1}, "offset": {"y": 2, "x": 1}}]
    assert compare(there, here).equal


@pytest.mark.parametrize(
    ("there", "here", "text"),
    [
        ([], [], "none on both sides"),
        ([entry("a", 1)], [entry("a", 1)], "1 partition, equal on both sides"),
        (
            [entry("a", 1), entry("b", 1)],
            [entry("a", 1), entry("b", 2), entry("c", 3)],
            "2 partitions in Connect, 3 here, 2 of them differ",
        ),
    ],
)
def test_what_is_said_about_them(there: list[dict[str, Any]], here: list[dict[str, Any]], text: str) -> None:
    assert str(compare(there, here)) == text


def test_changes_alter_what_differs_and_drop_what_is_not_wanted() -> None:
    wanted, present = [entry("a", 1), entry("b", 2)], [entry("a", 1), entry("b", 1), entry("c", 3)]
    assert changes(wanted, present) == [entry("b", 2), {"partition": {"filename": "c"}, "offset": None}]
