"""`kconnect status` as a user meets it, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from tests.support import unique
from tests.support.kafka import produce
from tests.support.positions import commit, commit_source

Status = Callable[..., Any]


@pytest.fixture
def worker(bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> Path:
    """A worker file with internal topics of its own."""
    path = tmp_path / "worker.properties"
    offsets, configs = (topic(config={"cleanup.policy": "compact"}) for _ in range(2))
    path.write_text(f"bootstrap.servers={bootstrap}\noffset.storage.topic={offsets}\nconfig.storage.topic={configs}\n")
    return path


@pytest.fixture
def status(worker: Path) -> Status:
    """The connectors as the command prints them in JSON, by name."""

    def go(*arguments: object) -> Any:
        result = CliRunner().invoke(app, ["status", "--json", "--worker", str(worker), *map(str, arguments)])
        assert result.exit_code == 0, result.output
        return {connector["name"]: connector for connector in json.loads(result.stdout)["connectors"]}

    return go


def test_a_source_has_its_last_offsets(status: Status, worker: Path, bootstrap: str) -> None:
    name = unique("lines")
    topic = worker.read_text().partition("offset.storage.topic=")[2].splitlines()[0]
    for partition, offset in (("a", {"p": 1}), ("a", {"p": 2}), ("b", {"p": 5}), ("b", None)):
        commit_source(bootstrap, topic, name, {"f": partition}, offset)
    found = status()[name]
    assert (found["kind"], found["lag"]) == ("source", None)
    assert found["offsets"] == [{"partition": {"f": "a"}, "offset": {"p": 2}}]


def test_a_sink_has_a_lag(status: Status, topic: Callable[..., str], bootstrap: str) -> None:
    name, read = unique("files"), topic()
    produce(bootstrap, read, ["a", "b", "c"])
    commit(bootstrap, f"connect-{name}", {(read, 0): 1})
    found = status(name)[name]
    assert (found["kind"], found["state"], found["lag"]) == ("sink", "STARTED", 2)


def test_all_sinks_are_found_by_their_groups(status: Status, topic: Callable[..., str], bootstrap: str) -> None:
    name = unique("files")
    commit(bootstrap, f"connect-{name}", {(topic(), 0): 0})
    assert status()[name]["lag"] == 0


def test_a_paused_connector_without_offsets_is_listed(status: Status, worker: Path) -> None:
    name = unique("lines")
    assert CliRunner().invoke(app, ["pause", name, "--force", "--worker", str(worker)]).exit_code == 0
    found = status()[name]
    assert found.pop("status")["connector"]["state"] == "PAUSED"
    assert found == {"name": name, "state": "PAUSED", "kind": None, "offsets": [], "lag": None}


def test_a_file_names_the_group_of_a_sink(
    status: Status, topic: Callable[..., str], bootstrap: str, tmp_path: Path
) -> None:
    name, group, read = unique("files"), unique("group"), topic()
    commit(bootstrap, group, {(read, 0): 0})
    file = tmp_path / "sink.json"
    file.write_text(json.dumps({"name": name, "topics": read, "consumer.override.group.id": group}))
    assert list(status(file)) == [name]
    assert status(file)[name]["offsets"][0]["partition"] == {"kafka_topic": read, "kafka_partition": 0}


def test_a_file_that_has_not_run_is_shown_as_started(
    worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCONNECT_WORKER", str(worker))
    monkeypatch.setenv("COLUMNS", "150")
    name = unique("lines")
    file = tmp_path / "lines.json"
    file.write_text(json.dumps({"name": name, "file": "/data/in"}))
    result = CliRunner().invoke(app, ["status", str(file)])
    assert result.stdout.splitlines()[1].split() == [name, "STARTED", "none"]
