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
    def test_a_connector_is_registered(self, kconnect: Kconnect, answer: Answer, tmp_path: Path) -> None:
        name = unique("lines")
        assert kconnect("create", _file(tmp_path, name)).stdout == f"Connector {name} is registered.\n"
        assert answer("config", name)["config"]["topic"] == "t"

    def test_its_first_state_can_be_chosen(self, kconnect: Kconnect, answer: Answer, tmp_path: Path) -> None:
        name = unique("lines")
        assert kconnect("create", _file(tmp_path, name), "--state", "stopped").exit_code == 0
        assert answer("describe", name)["status"]["connector"]["state"] == "STOPPED"

    def test_a_second_one_of_the_name_is_refused(self, kconnect: Kconnect, name: str, tmp_path: Path) -> None:
        result = kconnect("create", _file(tmp_path, name))
        assert (result.exit_code, result.stderr) == (1, f"Error: Connector {name} already exists\n")

    def test_it_can_be_replaced(self, kconnect: Kconnect, answer: Answer, name: str, tmp_path: Path) -> None:
        result = kconnect("create", _file(tmp_path, name, topic="u"), "--replace")
        assert result.stdout == f"Connector {name} has its new configuration.\n"
        assert answer("config", name)["config"]["topic"] == "u"

    def test_errors_of_the_configuration_are_shown(self, kconnect: Kconnect, tmp_path: Path) -> None:
        result = kconnect("create", _file(tmp_path, unique("lines"), **{"tasks.max": "none"}))
        assert result.exit_code == 1
        assert "tasks.max" in result.stderr
        assert "Traceback" not in result.output


class TestList:
    def test_it_has_states_type_and_class(self, answer: Answer, name: str) -> None:
        (row,) = [row for row in answer("list")["connectors"] if row["name"] == name]
        assert (row["type"], row["class"], row["registered"]) == ("source", "FileStreamSource", True)
        assert (row["state"], row["run_state"], row["last_run"]) == ("RUNNING", "never_run", None)

    def test_a_state_selects(self, kconnect: Kconnect, answer: Answer, name: str) -> None:
        kconnect("pause", name)
        states = ("paused", "PAUSED", "FAILED", "running", "idle")
        listed = {state: answer("list", "--state", state)["connectors"] for state in states}
        found = [state for state, rows in listed.items() if name in {row["name"] for row in rows}]
        assert found == ["paused", "PAUSED"]

    def test_a_table_has_a_row_for_each(self, kconnect: Kconnect, name: str) -> None:
        rows = [line.split() for line in kconnect("list").stdout.splitlines()]
        assert [name, "source", "never", "run", "registered"] in rows


class TestRuns:
    def test_one_that_has_not_run_has_neither_runs_nor_tasks(
        self, kconnect: Kconnect, answer: Answer, name: str
    ) -> None:
        assert kconnect("runs", name).stdout == f"No run of connector {name} is known.\n"
        assert answer("runs", name) == {"runs": []}
        assert "has no tasks" in kconnect("tasks", name).stdout

    def test_of_one_that_does_not_exist(self, kconnect: Kconnect) -> None:
        result = kconnect("runs", "no-such")
        assert (result.exit_code, "no-such" in result.stderr) == (1, True)


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
        result = kconnect("describe", "no-such")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("Error: ")
        assert "no-such" in result.stderr


def test_keys_are_set_and_removed(kconnect: Kconnect, answer: Answer, name: str) -> None:
    assert kconnect("config", name, "topic=u", "tasks.max-").exit_code == 0
    rest = {key: value for key, value in CONFIG.items() if key != "tasks.max"}
    assert answer("config", name)["config"] == {**rest, "topic": "u", "name": name}
    assert "topic=u" in kconnect("config", name).stdout.splitlines()


class TestEdit:
    def test_the_editor_changes_it(
        self, kconnect: Kconnect, answer: Answer, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VISUAL", "sed -i s#in.txt#other.txt#")
        assert kconnect("edit", name).stdout == f"Connector {name} has its new configuration.\n"
        assert answer("config", name)["config"]["file"] == "/data/other.txt"

    def test_what_is_saved_unchanged_changes_nothing(
        self, kconnect: Kconnect, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VISUAL", "true")
        assert kconnect("edit", name).stdout == f"Connector {name} was not changed.\n"


class TestStates:
    def test_the_status_follows(self, kconnect: Kconnect, answer: Answer, name: str) -> None:
        for command, state in (("pause", "PAUSED"), ("stop", "STOPPED"), ("resume", "RUNNING")):
            assert kconnect(command, name).exit_code == 0
            assert answer("describe", name)["status"]["connector"]["state"] == state

    def test_status_has_state_and_report_also_of_one_that_has_not_run(
        self, kconnect: Kconnect, answer: Answer, name: str
    ) -> None:
        kconnect("pause", name)
        (found,) = answer("status", name)["connectors"]
        assert (found["state"], found["status"]["connector"]["state"]) == ("PAUSED", "PAUSED")
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
