"""The commands against a real worker of Kafka Connect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support import unique
from tests.support.connect.worker import ConnectWorker

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(180)]

SECRET = "s3cr3t"


@pytest.fixture(scope="module")
def cluster(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """One worker, with topics of its own."""
    name = unique("cluster")
    with ConnectWorker.of_group(tmp_path_factory.mktemp("connect"), bootstrap, name) as worker:
        yield worker


@pytest.fixture
def kconnect(cluster: ConnectWorker, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command: `kconnect("describe", name)`."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("KCONNECT_SERVER", cluster.url)
    return lambda *arguments, stdin=None: CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


@pytest.fixture
def answer(kconnect: Callable[..., Result]) -> Callable[..., Any]:
    """What a command prints in JSON."""

    def go(*arguments: object) -> Any:
        result = kconnect(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return go


@pytest.fixture
def name(
    cluster: ConnectWorker, kconnect: Callable[..., Result], topic: Callable[..., str], tmp_path: Path
) -> Iterator[str]:
    """A connector that runs there."""
    chosen = unique("lines")
    (tmp_path / "in.txt").write_text("one\n")
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": topic()}
    created = kconnect("create", "-", stdin=json.dumps({"name": chosen, **config, "x.password": SECRET}))
    assert created.exit_code == 0, created.output
    cluster.wait_running(chosen)
    yield chosen
    kconnect("delete", chosen, "--yes")


def test_list_has_its_state_and_those_of_its_tasks(answer: Callable[..., Any], name: str) -> None:
    (line,) = [line for line in answer("list")["connectors"] if line["name"] == name]
    found = (line["type"], line["state"], line["tasks"], line["failed_tasks"])
    assert found == ("source", "RUNNING", 1, 0)


def test_describe_hides_the_secrets_that_connect_shows(
    kconnect: Callable[..., Result], answer: Callable[..., Any], name: str
) -> None:
    assert answer("describe", name)["config"]["x.password"] == "[hidden]"
    for command in ("describe", "config", "tasks"):
        result = kconnect(command, name)
        assert (result.exit_code, SECRET in result.output) == (0, False)


def test_pause_stop_and_resume(cluster: ConnectWorker, kconnect: Callable[..., Result], name: str) -> None:
    for command, state in (("pause", "PAUSED"), ("stop", "STOPPED"), ("resume", "RUNNING")):
        assert kconnect(command, name).exit_code == 0
        cluster.wait_for(name, state)


def test_a_change_keeps_the_secrets_that_are_left_hidden(
    cluster: ConnectWorker, kconnect: Callable[..., Result], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/FileStreamSource/FileStreamSourceConnector/")
    assert kconnect("edit", name).stdout == f"Connector {name} has its new configuration.\n"
    assert kconnect("config", name, "batch.size=7").exit_code == 0
    config = cluster._call("GET", f"/connectors/{name}/config")
    assert (config["connector.class"], config["x.password"], config["batch.size"]) == (
        "FileStreamSourceConnector",
        SECRET,
        "7",
    )


def test_restart_gives_the_plan(answer: Callable[..., Any], name: str) -> None:
    assert answer("restart", name, "--include-tasks")["restart"]["connector"]["state"] == "RESTARTING"


def test_status_has_the_offsets(cluster: ConnectWorker, answer: Callable[..., Any], name: str) -> None:
    (line,) = answer("status", name)["connectors"]
    assert (line["state"], line["kind"], line["lag"]) == ("STARTED", "source", None)


def test_errors_of_a_configuration_are_the_servers(kconnect: Callable[..., Result], name: str, tmp_path: Path) -> None:
    result = kconnect("config", name, "tasks.max=none")
    assert result.exit_code == 1
    assert "tasks.max" in result.stderr


@pytest.mark.parametrize(("batch", "exit_code"), [("5", 0), ("-", 1)])
def test_the_server_validates(kconnect: Callable[..., Result], tmp_path: Path, batch: str, exit_code: int) -> None:
    file = tmp_path / "lines.json"
    config = {"connector.class": "FileStreamSource", "file": "/x", "topic": "t", "batch.size": batch}
    file.write_text(json.dumps({"name": "lines", "config": config}))
    result = kconnect("validate", file)
    assert result.exit_code == exit_code, result.output
    assert ("batch.size" in result.stderr + result.stdout) is bool(exit_code)


def test_plugins_are_those_of_the_server(answer: Callable[..., Any]) -> None:
    plugins = {line["class"]: line["kind"] for line in answer("plugins")["plugins"]}
    assert plugins["org.apache.kafka.connect.file.FileStreamSourceConnector"] == "source"
    assert "io.confluent.connect.jdbc.JdbcSourceConnector" not in plugins
