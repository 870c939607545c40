"""The table of `kconnect list`, and by what a connector is found."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.connectors.over_topics import OverTopics
from airflow_kconnect.cli.moments import ahead, roughly

LIST = ["list", "--bootstrap-servers", "broker:9092"]


def _now_ms() -> int:
    return int(time.time() * 1000)


def _row(name: str, run_state: str, state: str = "RUNNING", **more: Any) -> dict[str, Any]:
    run = {"start_ms": _now_ms() - 300_000, "records": {"read": 1234}, "progress": None}
    return {
        "name": name,
        "type": "source",
        "class": "C",
        "registered": False,
        "configured": [{"kind": "dag", "dag_id": "shop", "task_id": "read", "url": None}],
        "state": state,
        "run_state": run_state,
        "attention": None,
        "cause": None,
        "tasks": 1,
        "failed_tasks": 0,
        "last_run": run,
        "next_run_ms": None,
        "schedule": None,
        **more,
    }


def _rows(_: OverTopics) -> list[dict[str, Any]]:
    return [
        _row("shop-source-of-all-orders", "idle"),
        _row("b", "failed", "FAILED", cause="there is no table public.orders that the user can see"),
        _row("c", "paused", "PAUSED", configured=[{"kind": "registered", "dag_id": None, "group": "shop"}]),
        _row("d", "never_run", last_run=None),
        _row("e", "running", last_run={"start_ms": _now_ms(), "progress": {"records": 7}, "records": {}}),
    ]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Lines that the command prints for these rows, in a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(OverTopics, "rows", _rows)

    def go(*options: str) -> list[str]:
        result = CliRunner().invoke(app, [*LIST, *options])
        assert result.exit_code == 0, result.output
        return [line.rstrip() for line in result.stdout.splitlines()]

    return go


def test_each_is_one_line_of_80_columns_with_its_whole_name(listed: Callable[..., list[str]]) -> None:
    header, first, failed, paused, never, running = listed()
    assert " ".join(header.split()) == "Connector Type State Last run Records Note"
    assert " ".join(first.split()).startswith("shop-source-of-all-orders source idle 5 min ago 1,234 DAG shop")
    assert "there is no" in failed
    assert paused.endswith(" group shop")
    assert " ".join(never.split()).startswith("d source never run DAG")
    assert running.split()[6:8] == ["7", "DAG"]


def test_the_next_run_has_a_column_where_it_is_known(
    listed: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = _row("a", "idle", next_run_ms=_now_ms() + 3_700_000, schedule="@hourly")
    monkeypatch.setattr(OverTopics, "rows", lambda self: [row])
    assert "in 1 h" in listed()[1]


@pytest.mark.parametrize(
    ("state", "names"),
    [("failed", ["b"]), ("PAUSED", ["c"]), ("running", ["e"]), ("never_run", ["d"]), ("unassigned", [])],
)
def test_a_state_selects(listed: Callable[..., list[str]], state: str, names: list[str]) -> None:
    (line,) = listed("--state", state, "--json")
    assert [row["name"] for row in json.loads(line)["connectors"]] == names


@pytest.mark.parametrize(
    ("ms", "text"), [(999, "0 s"), (59_999, "59 s"), (3_599_999, "59 min"), (86_399_999, "23 h"), (200_000_000, "2 d")]
)
def test_durations_have_their_largest_unit(ms: int, text: str) -> None:
    assert roughly(ms) == text


def test_a_run_that_should_have_begun_is_due() -> None:
    assert (ahead(1_000, 2_000), ahead(62_000, 2_000), ahead(None)) == ("due", "in 1 min", "")
