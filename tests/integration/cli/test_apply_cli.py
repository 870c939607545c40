"""`kconnect apply` as a user meets it, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support.control import control_plane, control_worker, register

Apply = Callable[..., Result]

SOURCE = {"connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}
SINK = {"connector.class": "DirectorySink", "topics": "lines", "directory": "/lake"}
JDBC = {
    **{"connector.class": "JdbcSink", "topics": "t", "connection.url": "jdbc:postgresql://db/shop"},
    **{"connection.user": "etl", "connection.password": "very-secret-1"},
}


@pytest.fixture
def props(bootstrap: str) -> dict[str, str]:
    return control_worker(bootstrap)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "connectors").mkdir()
    return tmp_path / "connectors"


@pytest.fixture
def apply(props: dict[str, str], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apply:
    """The command on the folder: `apply("--dry-run")`."""
    monkeypatch.setenv("COLUMNS", "300")
    worker = tmp_path / "worker.properties"
    worker.write_text("".join(f"{key}={value}\n" for key, value in props.items()))

    def go(*options: str) -> Result:
        return CliRunner().invoke(app, ["apply", "-f", str(folder), "--worker", str(worker), *options])

    return go


def put(folder: Path, **configs: Any) -> None:
    for name, config in configs.items():
        (folder / f"{name}.json").write_text(json.dumps({"name": name, "config": config}))


def registered(props: dict[str, str]) -> dict[str, dict[str, str]]:
    with control_plane(props) as plane:
        return {name: plane.registered_config(name) for name in plane.names()}


def actions(result: Result) -> dict[str, str]:
    assert result.exit_code == 0, result.output
    return {each["connector"]: each["action"] for each in json.loads(result.stdout)["connectors"]}


def test_connectors_are_registered_and_a_second_time_nothing_changes(
    apply: Apply, folder: Path, props: dict[str, str]
) -> None:
    put(folder, a=SOURCE, b=SINK)

    assert actions(apply("--json")) == {"a": "created", "b": "created"}
    assert registered(props) == {"a": {**SOURCE, "name": "a"}, "b": {**SINK, "name": "b"}}
    assert actions(apply("--json")) == {"a": "unchanged", "b": "unchanged"}


def test_changed_keys_are_shown(apply: Apply, folder: Path) -> None:
    put(folder, a={**SOURCE, "tasks.max": "1"})
    apply()
    put(folder, a={**SOURCE, "topic": "rows", "kconnect.schedule": "@daily"})

    result = apply()

    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines[1].split() == ["a", "changed", "+", "kconnect.schedule=@daily"]
    assert lines[2:] == ["- tasks.max=1", "~ topic: lines -> rows", "1 changed."]


def test_a_dry_run_writes_nothing(apply: Apply, folder: Path, props: dict[str, str]) -> None:
    put(folder, a=SOURCE)

    result = apply("--dry-run")

    assert result.stdout.splitlines()[-1] == "Dry run: 1 created; nothing was written."
    assert registered(props) == {}


def test_one_error_keeps_all_from_being_written(apply: Apply, folder: Path, props: dict[str, str]) -> None:
    put(folder, a=SOURCE, b={**SINK, "kconnect.retries": "-1"}, c={"connector.class": "Nope"})

    result = apply()

    assert result.exit_code == 1
    assert "b.json" in result.stderr and "kconnect.retries" in result.stderr
    assert "c.json" in result.stderr and "Nope" in result.stderr
    assert registered(props) == {}


def test_others_are_deleted_only_if_asked(apply: Apply, folder: Path, props: dict[str, str]) -> None:
    register(props, old=SOURCE)
    put(folder, a=SINK)

    assert actions(apply("--json")) == {"a": "created"}
    assert actions(apply("--json", "--prune")) == {"a": "unchanged", "old": "deleted"}
    assert list(registered(props)) == ["a"]


def test_an_empty_folder_does_not_delete_everything(apply: Apply, props: dict[str, str]) -> None:
    register(props, old=SOURCE)

    result = apply("--prune")

    assert result.exit_code == 1 and "all connectors would be deleted" in result.stderr
    assert list(registered(props)) == ["old"]


def test_secrets_are_not_shown(apply: Apply, folder: Path) -> None:
    put(folder, a=JDBC)
    apply()
    put(folder, a={**JDBC, "connection.password": "very-secret-2"})

    result, as_json = apply("--dry-run"), apply("--dry-run", "--json")

    assert "~ connection.password: [hidden], another value" in result.stdout
    assert "very-secret" not in result.output + as_json.output


def test_a_hidden_value_keeps_the_registered_one(apply: Apply, folder: Path, props: dict[str, str]) -> None:
    put(folder, a=JDBC)
    apply()
    put(folder, a={**JDBC, "connection.password": "[hidden]", "connection.user": "other"})

    assert actions(apply("--json")) == {"a": "changed"}
    assert registered(props)["a"]["connection.password"] == "very-secret-1"


def test_one_file_is_enough(apply: Apply, folder: Path, props: dict[str, str]) -> None:
    put(folder, a=SOURCE, b=SINK)

    assert apply("-f", str(folder / "a.json")).exit_code == 0
    assert list(registered(props)) == ["a"]
    assert "is not a folder" in apply("-f", str(folder / "a.json"), "--prune").stderr


@pytest.mark.exhaustive
def test_no_broker_is_unavailable(folder: Path) -> None:
    put(folder, a=SOURCE)

    result = CliRunner().invoke(app, ["apply", "-f", str(folder), "--bootstrap-servers", "localhost:1"])

    assert result.exit_code == 3
    assert "no Kafka broker answers at localhost:1" in result.stderr
