"""The list of connectors in parts."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.control.overview.parts import COUNT, changed

ROWS: list[dict[str, Any]] = [{"name": f"connector-{number}", "state": "RUNNING"} for number in range(1000)]


def names(parts: dict[str, Any]) -> set[str]:
    """The connectors in these parts."""
    return {row["name"] for part in parts.values() for row in part}


@pytest.mark.parametrize("known", ["", "x", "0" * 8 * COUNT, "0" * 10_000])
def test_who_knows_nothing_gets_everything(known: str) -> None:
    assert names(changed(ROWS, known)[1]) == {row["name"] for row in ROWS}


def test_who_knows_everything_gets_nothing() -> None:
    tag, _ = changed(ROWS, "")
    assert changed(list(ROWS), tag) == (tag, {})


def test_the_order_of_asking_servers_does_not_matter() -> None:
    assert changed(ROWS, "")[0] == changed([dict(row) for row in reversed(ROWS)], "something else")[0]


def test_one_change_is_one_part() -> None:
    tag, _ = changed(ROWS, "")
    rows = [{**row, "state": "FAILED"} if row["name"] == "connector-7" else row for row in ROWS]
    new, parts = changed(rows, tag)
    assert (len(parts), "connector-7" in names(parts), len(names(parts)) < 100, new != tag) == (1, True, True, True)


def test_a_connector_that_is_gone_is_missing_in_its_part() -> None:
    tag, before = changed(ROWS, "")
    _, parts = changed([row for row in ROWS if row["name"] != "connector-7"], tag)
    (part,) = parts
    assert names({part: before[part]}) - names(parts) == {"connector-7"}


def test_the_last_connector_of_a_part_leaves_an_empty_part() -> None:
    tag, before = changed(ROWS[:1], "")
    (part,) = (number for number, rows in before.items() if rows)
    assert changed([], tag)[1] == {part: []}
