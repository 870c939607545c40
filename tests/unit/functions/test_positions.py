"""Offsets of source functions: each record once, wherever runs end and whether the function includes the cursor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.functions.positions import CursorPosition, Offset, State, StatePosition

AT = ("at",)


def cursor(committed: Offset | None = None, fields: tuple[str, ...] = AT, *, unique: bool = False) -> CursorPosition:
    return CursorPosition("orders", fields, committed, unique=unique)


def sent(position: CursorPosition, records: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Offset]]:
    """The records that are new, each with its offset."""
    return [(record, offset) for record in records if (offset := position.offset_after(record)) is not None]


@given(
    groups=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    late=st.lists(st.tuples(st.integers(0, 7), st.integers(1, 3)), max_size=3),
    ends=st.lists(st.integers(0, 6), max_size=12),
    includes=st.booleans(),
)
def test_each_record_is_sent_once_wherever_runs_end(
    groups: list[int], late: list[tuple[int, int]], ends: list[int], includes: bool
) -> None:
    """Records with the same cursor are cut apart; more of the newest ones come when the others were read."""
    table: list[dict[str, Any]] = [
        {"id": f"{at}-{n}", "at": at} for at, count in enumerate(groups) for n in range(count)
    ]
    late_records = [{"id": f"late-{n}", "at": len(groups) - 1} for n, _ in enumerate(late)]
    arrived: list[str] = []
    committed: Offset | None = None
    for run, end in enumerate([*ends, 100, 100]):
        if run == len(ends) + 1:
            table += late_records
        position = cursor(committed)
        start = position.arguments()["cursor"]
        rows = [row for row in table if start is None or row["at"] > start or (includes and row["at"] == start)]
        for record, offset in sent(position, rows)[:end]:
            arrived.append(record["id"])
            committed = json.loads(json.dumps(offset))
    assert sorted(arrived) == sorted(row["id"] for row in table)


def test_a_function_is_called_with_the_cursor_before_the_newest() -> None:
    (*_, (_, offset)) = sent(cursor(), [{"at": 1}, {"at": 2}, {"at": 2, "n": 1}])
    assert cursor(offset).arguments() == {"cursor": 1}


@pytest.mark.parametrize("start", [1, 3], ids=["between two", "before the only one"])
def test_a_record_that_comes_late_is_sent_once(start: int) -> None:
    table = [{"at": at} for at in range(start, 4) if at != 2]
    (*_, (_, committed)) = sent(cursor(), table)
    late = sorted([*table, {"at": 2}], key=lambda row: row["at"])
    ((record, committed),) = sent(cursor(committed), late)
    assert (record, sent(cursor(committed), late)) == ({"at": 2}, [])


def test_a_cursor_with_the_key_is_its_own_offset() -> None:
    (*_, (_, offset)) = sent(cursor(unique=True), [{"at": 1}, {"at": 2}])
    assert offset == {"at": 2}


def test_a_cursor_that_has_become_the_key_resumes_at_the_newest() -> None:
    (*_, (_, offset)) = sent(cursor(), [{"at": 1}, {"at": 2}])
    assert sent(cursor(offset, unique=True), [{"at": 1}, {"at": 2}, {"at": 3}]) == [({"at": 3}, {"at": 3})]


def test_what_a_function_yields_again_is_skipped() -> None:
    assert sent(cursor({"at": 2}, unique=True), [{"at": 1}, {"at": 2}, {"at": 3}]) == [({"at": 3}, {"at": 3})]


@pytest.mark.parametrize(
    "value",
    [
        5,
        1.5,
        "b",
        datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
        datetime(2026, 1, 2),
        date(2026, 1, 2),
        Decimal("1.50"),
        "date|b",
    ],
    ids=str,
)
def test_a_cursor_comes_back_with_its_type(value: Any) -> None:
    ((_, offset),) = sent(cursor(unique=True), [{"at": value}])
    resumed = cursor(json.loads(json.dumps(offset)), unique=True).arguments()["cursor"]
    assert (resumed, type(resumed)) == (value, type(value))


class Moment(datetime):
    """As of pandas or pendulum."""


def test_a_cursor_of_a_kind_of_datetime_comes_back_as_one() -> None:
    ((_, offset),) = sent(cursor(), [{"at": Moment(2026, 1, 2)}])
    assert sent(cursor(offset), [{"at": Moment(2026, 1, 2)}, {"at": Moment(2026, 1, 3)}])[0][0] == {
        "at": datetime(2026, 1, 3)
    }


@pytest.mark.parametrize("offset", [{"at": 5}, {"newest.at": 5, "sent": ""}, {"state": "{}", "sent": 1}], ids=str)
def test_the_offset_of_another_cursor_is_not_taken_for_none(offset: Offset) -> None:
    with pytest.raises(DataError, match="its cursor is `at, id`, and the committed offset has"):
        cursor(offset, ("at", "id"))


def test_an_offset_of_a_cursor_is_not_taken_for_no_state() -> None:
    with pytest.raises(DataError, match="it resumes by a state, and the committed offset has `at`"):
        StatePosition("pages", {"at": 5})


def test_several_fields_are_a_tuple() -> None:
    both = ("at", "id")
    ((_, offset),) = sent(cursor(None, both, unique=True), [{"at": 1, "id": 7}])
    assert cursor(offset, both, unique=True).arguments() == {"cursor": (1, 7)}


@pytest.mark.parametrize(
    ("records", "unique", "text"),
    [
        ([{"at": 7}, {"at": 5}], False, "ascending order of `at`: 5 came after 7"),
        ([{"n": 1}], False, "no `at`, which is its cursor"),
        ([{"at": 1}, {"at": "b"}], False, "values of different types"),
        ([{"at": 1}, {"at": 1}], True, "two records have the same `at`: 1"),
        ([{"at": 0, "n": n} for n in range(2001)], False, "more than 2000 records have the cursor 0"),
    ],
    ids=["falls", "missing", "types", "twice", "too many"],
)
def test_an_error_says_what_is_wrong_with_the_cursor(records: list[dict[str, Any]], unique: bool, text: str) -> None:
    with pytest.raises(DataError, match=text):
        sent(cursor(unique=unique), records)


def pages(state: dict[str, Any], count: int) -> Iterator[Any]:
    """A function with a state: ten records a page."""
    for page in range(state.get("page", 0), count):
        yield from ({"id": page * 10 + n} for n in range(10))
        yield State(page=page + 1)


def run_of_pages(committed: Offset | None, count: int, end: int) -> tuple[list[int], Offset | None]:
    """What a run sends that ends after some records, and its offset."""
    position = StatePosition("pages", committed)
    arrived: list[int] = []
    for item in pages(position.state, count):
        if isinstance(item, State):
            position.enter(item)
        elif len(arrived) < end and (offset := position.offset_after(item)) is not None:
            arrived.append(item["id"])
            committed = json.loads(json.dumps(offset))
    return arrived, committed


@given(st.lists(st.integers(0, 25), max_size=6))
def test_records_of_a_state_are_counted(ends: list[int]) -> None:
    arrived: list[int] = []
    committed: Offset | None = None
    for end in [*ends, 1000]:
        more, committed = run_of_pages(committed, 4, end)
        arrived += more
    assert arrived == list(range(40))


def test_a_dict_that_the_function_changes_is_the_state() -> None:
    position = StatePosition("orders", None)
    state = position.arguments()["state"]
    state["seen"] = [1]
    assert position.offset_after({}) == {"state": '{"seen": [1]}', "sent": 1}


def test_a_state_that_is_not_json_is_an_error() -> None:
    position = StatePosition("orders", None)
    position.state["at"] = object()
    with pytest.raises(DataError, match="orders: its state cannot be written as JSON"):
        position.offset_after({})


def test_offsets_are_flat() -> None:
    ((_, offset), *_) = sent(cursor(), [{"at": 1}])
    assert not any(isinstance(member, Mapping | list) for member in offset.values())
