"""Changes of connectors, seen again and again."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli.operations.watch import changes, watch_statuses
from airflow_kconnect.connect.errors import RetriableError


def _seen(name: str, state: str = "STARTED", lag: int | None = None) -> dict[str, Any]:
    return {"name": name, "state": state, "kind": "sink", "offsets": [], "lag": lag, "status": None}


def _without_time(lines: Any) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "time"} for line in lines]


def test_only_what_has_changed_is_reported() -> None:
    looks = iter([[_seen("a"), _seen("b")], [_seen("a"), _seen("b", "PAUSED")], [_seen("a"), _seen("b", "PAUSED")]])
    assert _without_time(changes(looks)) == [_seen("a"), _seen("b"), _seen("b", "PAUSED")]


def test_a_connector_that_goes_is_reported() -> None:
    assert _without_time(changes(iter([[_seen("a")], []]))) == [_seen("a"), {"name": "a", "gone": True}]


def test_a_problem_is_reported_once() -> None:
    looks: list[Any] = [[_seen("a")], "no broker", "no broker", [_seen("a")], "no broker"]
    problem = {"problem": "no broker"}
    assert _without_time(changes(iter(looks))) == [_seen("a"), problem, problem]


def test_ctrl_c_ends_it_quietly_and_a_broker_that_goes_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    looks: list[Any] = [[_seen("a", lag=3)], RetriableError("no broker"), KeyboardInterrupt()]

    def look() -> Any:
        seen = looks.pop(0)
        if isinstance(seen, BaseException):
            raise seen
        return seen

    watch_statuses(look, lambda _: "", 0.01, as_json=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith(" a STARTED lag=3 offsets=0")
    assert second.endswith(" no broker")


def test_an_interval_needs_some_time() -> None:
    from airflow_kconnect.cli import app

    assert CliRunner().invoke(app, ["status", "--watch", "--interval", "0"]).exit_code == 2
