"""The table of `kconnect status` in a terminal of 80 columns."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.connectors.over_topics import OverTopics

STATUS = {"connector": {"state": "FAILED"}, "tasks": [{"id": 0, "state": "FAILED"}]}


def _row(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "source", "state": "STARTED", "lag": None, "status": STATUS, "offsets": [], **more}


def _lines(rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, *options: str) -> list[str]:
    """What the command prints."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(OverTopics, "overview", lambda self, names: rows)
    result = CliRunner().invoke(app, ["status", "--bootstrap-servers", "broker:9092", *options])
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


def _offset(table: str) -> dict[str, Any]:
    return {"partition": {"protocol": "1", "table": table}, "offset": {"timestamp": 1795632300123, "incrementing": 7}}


ROWS = [
    _row("shop-source-of-all-orders", offsets=[_offset("orders")]),
    _row("b", offsets=[_offset("a"), _offset("b")]),
]


def test_a_connector_is_one_line_in_which_its_name_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    header, first, second = _lines(ROWS, monkeypatch)
    assert header.startswith("Connector")
    assert first.startswith("shop-source-of-all-orders  source  STARTED  FAILED, 1/1 tasks")
    assert first.endswith("…")
    assert second.endswith("2 partitions")


def test_a_wide_table_has_whole_offsets_in_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _lines(ROWS, monkeypatch, "--wide")
    assert len(lines) == 4
    assert lines[1].endswith('"incrementing": 7} (timestamp is 2026-11-25T18:45:00.123Z)')
