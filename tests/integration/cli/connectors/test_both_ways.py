"""The commands on registered connectors: the same straight to the topics and over the REST API."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support import unique

Kconnect = Callable[..., Result]
Answer = Callable[..., Any]

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t", "tasks.max": "1"}
SECRET = "s3cr3t"


def _file(folder: Path, name: str, **config: str) -> Path:
    path = folder / "connector.json"
    path.write_text(json.dumps({"name": name, "config": {**CONFIG, **config}}))
    return path


class TestCreate:
    def test_a_connector_is_registered_in_the_state_that_is_chosen_and_can_be_replaced(
        self, kconnect: Kconnect, answer: Answer, tmp_path: Path
    ) -> None:
        name = unique("lines")
        created = kconnect("create", _file(tmp_path, name), "--state", "stopped")
        assert created.stdout == f"Connector {name} is registered.\n"
        found = answer("describe", name)
        assert (found["config"]["topic"], found["status"]["connector"]["state"]) == ("t", "STOPPED")
        result = kconnect("create", _file(tmp_path, name))
        assert (result.exit_code, result.stderr) == (1, f"Error: Connector {name} already exists\n")
        result = kconnect("create", _file(tmp_path, name, topic="u"), "--replace")
        assert result.stdout == f"Connector {name} has its new configuration.\n"
        assert answer("config", name)["config"]["topic"] == "u"

    def test_errors_of_the_configuration_are_shown(self, kconnect: Kconnect, tmp_path: Path) -> None:
        result = kconnect("create", _file(tmp_path, unique("lines"), **{"tasks.max": "none"}))
        assert result.exit_code == 1
        assert "tasks.max" in result.stderr
        assert "Traceback" not in result.output


def test_the_list_has_states_type_and_class_and_a_state_selects(kconnect: Kconnect, answer: Answer, name: str) -> None:
    (row,) = [row for row in answer("list")["connectors"] if row["name"] == name]
    assert (row["type"], row["class"], row["registered"]) == ("source", "FileStreamSource", True)
    assert (row["state"], row["run_state"], row["last_run"]) == ("RUNNING", "never_run", None)
    rows = [line.split() for line in kconnect("list").stdout.splitlines()]
    assert [name, "source", "never", "run", "registered"] in rows
    kconnect("pause", name)
    listed = {state: answer("list", "--state", state)["connectors"] for state in ("paused", "PAUSED", "FAILED", "idle")}
    found = [state for state, rows in listed.items() if name in {row["name"] for row in rows}]
    assert found == ["paused", "PAUSED"]


def test_one_that_has_not_run_has_neither_runs_nor_tasks(kconnect: Kconnect, answer: Answer, name: str) -> None:
    assert kconnect("runs", name).stdout == f"No run of connector {name} is known.\n"
    assert answer("runs", name) == {"runs": []}
    assert "has no tasks" in kconnect("tasks", name).stdout


class TestDescribe:
    def test_it_has_everything(self, answer: Answer, name: str) -> None:
        found = answer("describe", name)
        assert found["config"] == {**CONFIG, "name": name}
        assert (found["type"], found["status"]["connector"]["state"]) == ("source", "RUNNING")
        assert (found["topics"], found["offsets"], found["problems"]) == ([], [], {})

    def test_secrets_are_hidden(self, kconnect: Kconnect, name: str) -> None:
        assert kconnect("config", name, f"producer.override.sasl.password={SECRET}").exit_code == 0
        for command in ("describe", "config", "tasks"):
            assert SECRET not in kconnect(command, name).output
        assert "producer.override.sasl.password=[hidden]" in kconnect("describe", name).stdout

    def test_an_unknown_one_is_an_error(self, kconnect: Kconnect) -> None:
        for command in ("describe", "runs"):
            result = kconnect(command, "no-such")
            assert (result.exit_code, result.stdout) == (1, ""), command
            assert result.stderr.startswith("Error: ")
            assert "no-such" in result.stderr


def test_keys_are_set_and_removed(kconnect: Kconnect, answer: Answer, name: str) -> None:
    assert kconnect("config", name, "topic=u", "tasks.max-").exit_code == 0
    rest = {key: value for key, value in CONFIG.items() if key != "tasks.max"}
    assert answer("config", name)["config"] == {**rest, "topic": "u", "name": name}
    assert "topic=u" in kconnect("config", name).stdout.splitlines()


def test_the_editor_changes_it_and_what_is_saved_unchanged_changes_nothing(
    kconnect: Kconnect, answer: Answer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s#in.txt#other.txt#")
    assert kconnect("edit", name).stdout == f"Connector {name} has its new configuration.\n"
    assert answer("config", name)["config"]["file"] == "/data/other.txt"
    monkeypatch.setenv("VISUAL", "true")
    assert kconnect("edit", name).stdout == f"Connector {name} was not changed.\n"


def test_the_status_follows(kconnect: Kconnect, answer: Answer, name: str) -> None:
    """It has state and report also of one that has not run."""
    for command, state in (("stop", "STOPPED"), ("resume", "RUNNING"), ("pause", "PAUSED")):
        assert kconnect(command, name).exit_code == 0
        (found,) = answer("status", name)["connectors"]
        assert found["status"]["connector"]["state"] == state
    assert found["state"] == "PAUSED"
    assert name in {line["name"] for line in answer("status")["connectors"]}


def test_offsets_are_altered_and_reset_once_it_is_stopped(kconnect: Kconnect, answer: Answer, name: str) -> None:
    offsets = [{"partition": {"filename": "/data/in.txt"}, "offset": {"position": 7}}]
    refused = kconnect("offsets", "reset", name)
    assert (refused.exit_code, "must be in the STOPPED state" in refused.stderr) == (1, True)
    kconnect("stop", name)
    altered = kconnect("offsets", "alter", name, "-", stdin=json.dumps({"offsets": offsets}))
    assert altered.exit_code == 0, altered.output
    assert answer("offsets", "show", name) == {"offsets": offsets}
    assert kconnect("offsets", "reset", name).exit_code == 0
    assert answer("offsets", "show", name) == {"offsets": []}


def test_topics_can_be_reset(kconnect: Kconnect, answer: Answer, name: str) -> None:
    assert answer("topics", name) == {"topics": []}
    assert kconnect("topics", name, "--reset").exit_code == 0


def test_a_connector_is_deleted_and_without_a_terminal_that_needs_a_yes(kconnect: Kconnect, name: str) -> None:
    refused = kconnect("delete", name)
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)
    assert kconnect("describe", name).exit_code == 0
    assert kconnect("delete", name, "--yes").exit_code == 0
    assert kconnect("describe", name).exit_code == 1
