"""Commands about registered connectors, as far as they need no target."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.connectors.changing import patch_of
from airflow_kconnect.connect.errors import ConfigError

COMMANDS = ["list", "describe", "create", "edit", "config", "delete", "restart", "topics", "tasks", "status", "lag"]


@pytest.mark.parametrize("command", [*COMMANDS, "pause", "resume", "stop", "plugins", "validate"])
def test_each_takes_a_server_and_has_an_example(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = CliRunner().invoke(app, [command, "--help"]).stdout
    for expected in ("--server", "--profile", f"kconnect {command}", "Example"):
        assert expected in text


def test_changes_set_and_remove_keys() -> None:
    assert patch_of(["a=1=2", "b-", "c-=", "d="]) == {"a": "1=2", "b": None, "c-": "", "d": ""}


@pytest.mark.parametrize("changes", [["a"], ["=1"], ["-"], ["a=1", "a-"], ["a=[hidden]"]])
def test_changes_that_mean_nothing_are_errors(changes: list[str]) -> None:
    with pytest.raises(ConfigError):
        patch_of(changes)


def test_a_state_is_for_new_connectors() -> None:
    result = CliRunner().invoke(app, ["create", "x.json", "--replace", "--state", "paused", "--server", "http://c"])
    assert (result.exit_code, "--replace" in result.stderr) == (2, True)


def test_two_places_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["list", "--server", "http://c", "--bootstrap-servers", "b"])
    assert (result.exit_code, "names another target" in result.stderr) == (1, True)


def test_tail_is_topic_tail() -> None:
    assert "--from-beginning" in CliRunner().invoke(app, ["tail", "--help"]).stdout
