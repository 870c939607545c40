"""Offsets of Java connectors, altered and reset after their class was asked, by REST API and command line."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.hosted.asking import offsets
from airflow_kconnect.hosted.asking.warm import WARM
from airflow_kconnect.hosted.installing.install import install
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.submit import operations
from tests.support import unique
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.connect.rough import rough_plugin
from tests.support.control import control_worker
from tests.support.kafka import produce

STRING = "org.apache.kafka.connect.storage.StringConverter"
ALTERED, RESET = (f"The offsets for this connector have been {done} successfully" for done in ("altered", "reset"))
NEGATIVE = "The value for the 'position' key in the offset should be a non-negative value"
UNSUPPORTED = "Failed to modify offsets for connector {} because it doesn't support external modification of offsets"
PARTITION = {"filename": "/data/in.txt"}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plugin_folder(rough_plugin(tmp_path_factory.mktemp("plugins")), FILE)


@pytest.fixture(scope="module")
def worker(bootstrap: str, plugins: Path) -> dict[str, str]:
    return control_worker(bootstrap, **{"plugin.path": str(plugins)})


@pytest.fixture(scope="module", autouse=True)
def jvm() -> Iterator[None]:
    yield
    WARM.close()


@pytest.fixture
def client(worker: dict[str, str]) -> Iterator[TestClient]:
    plane = ControlPlane(worker, ControlStores(worker))
    yield TestClient(create_app(lambda: plane, TokenPolicy(None)))
    plane.close()


@pytest.fixture
def lines() -> dict[str, str]:
    """Kafka's file source."""
    return {
        "name": unique("lines"),
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "kconnect.hosted": "true",
        "file": "/data/in.txt",
        "topic": "lines",
    }


@pytest.fixture
def sink(bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """A sink that does with offsets what its mode says, of a topic with three records."""

    def config(mode: str) -> dict[str, str]:
        source = topic()
        produce(bootstrap, source, ["a", "b", "c"])
        keys = {"mode": mode, "file": str(tmp_path / "out.txt"), "key.converter": STRING, "value.converter": STRING}
        return {"name": unique("rough"), "connector.class": "kconnect.rough.RoughSink", "topics": source, **keys}

    return config


def at(position: object) -> dict[str, Any]:
    """A request for the file source."""
    return {"offsets": [{"partition": PARTITION, "offset": {"position": position}}]}


def stopped(config: dict[str, str], worker: dict[str, str]) -> dict[str, str]:
    operations.set_target_state(config["name"], operations.STOPPED, worker)
    return config


def test_the_rest_api_answers_with_what_the_class_says(client: TestClient, lines: dict[str, str]) -> None:
    name = lines["name"]
    created = client.post("/connectors", json={"name": name, "config": lines, "initial_state": "STOPPED"})
    assert created.status_code == 201
    path = f"/connectors/{name}/offsets"
    assert client.patch(path, json=at(10)).json() == {"message": ALTERED}
    refused = client.patch(path, json=at(-1))
    assert (refused.status_code, refused.json()) == (400, {"error_code": 400, "message": NEGATIVE})
    wrong_kind = client.patch(path, json=at("ten"))
    assert (
        wrong_kind.json()["message"] == "The value for the 'position' key in the offset is expected to be a Long value"
    )
    assert client.get(path).json() == at(10)
    assert client.delete(path).json() == {"message": RESET}
    assert client.get(path).json() == {"offsets": []}


def test_a_command_shows_what_the_class_says(
    worker: dict[str, str], lines: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    keys, file, request = (tmp_path / name for name in ("worker.properties", "lines.json", "offsets.json"))
    keys.write_text("".join(f"{key}={text}\n" for key, text in worker.items()))
    file.write_text(json.dumps(stopped(lines, worker)))
    request.write_text(json.dumps(at(-1)))
    command = ["offsets", "alter", str(file), str(request), "--worker", str(keys)]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code != 0
    assert NEGATIVE in refused.output
    request.write_text(json.dumps(at(5)))
    altered = CliRunner().invoke(app, command)
    assert altered.exit_code == 0, altered.output
    assert ALTERED in altered.output


@pytest.mark.exhaustive
def test_partitions_that_are_not_those_of_a_mirror_are_refused(worker: dict[str, str], plugins: Path) -> None:
    install("org.apache.kafka:connect-mirror:4.3.0", plugins)
    mirror = {
        "name": unique("mirror"),
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "origin",
        "source.cluster.bootstrap.servers": worker["bootstrap.servers"],
        "target.cluster.alias": "target",
        "target.cluster.bootstrap.servers": worker["bootstrap.servers"],
        "topics": "orders",
    }
    wrong = [{"partition": PARTITION, "offset": {"offset": 5}}]
    with pytest.raises(ConfigError, match="partition"):
        operations.alter_offsets(stopped(mirror, worker), worker, wrong)
    right = [{"partition": {"cluster": "origin", "topic": "orders", "partition": 0}, "offset": {"offset": 5}}]
    assert operations.alter_offsets(mirror, worker, right) == ALTERED
    assert operations.show_offsets(mirror, worker) == right


@pytest.mark.parametrize(
    ("mode", "text"), [("refuses offsets", "Offsets are fixed until Friday"), ("has fixed offsets", UNSUPPORTED)]
)
def test_a_sink_refuses(worker: dict[str, str], sink: Callable[[str], dict[str, str]], mode: str, text: str) -> None:
    config = stopped(sink(mode), worker)
    expected = {"offsets": [text.format(config["name"])]}
    with pytest.raises(ConfigError) as caught:
        operations.alter_offsets(config, worker, place(config, 2))
    assert caught.value.errors == expected
    with pytest.raises(ConfigError) as caught:
        operations.reset_offsets(config, worker)
    assert caught.value.errors == expected
    assert operations.show_offsets(config, worker) == []


def test_a_sink_alters_what_it_keeps_itself(
    worker: dict[str, str], sink: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    config = stopped(sink("keeps offsets"), worker)
    assert operations.alter_offsets(config, worker, place(config, 2)) == ALTERED
    assert operations.show_offsets(config, worker) == place(config, 2)
    assert operations.reset_offsets(config, worker) == RESET
    told = (tmp_path / "out.txt").read_text().splitlines()
    assert told == [f"{config['topics']}-0=2", f"{config['topics']}-0=null"]


def place(config: dict[str, str], offset: int) -> list[dict[str, Any]]:
    """A request for the only partition of a sink."""
    partition = {"kafka_topic": config["topics"], "kafka_partition": 0}
    return [{"partition": partition, "offset": {"kafka_offset": offset}}]


def test_without_java_offsets_are_altered_and_the_log_says_that_no_one_was_asked(
    worker: dict[str, str], lines: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing() -> None:
        raise SetupError("No Java was found")

    monkeypatch.setattr(offsets, "find_java", missing)
    with caplog.at_level(logging.WARNING, logger="kconnect.hosted"):
        message = operations.alter_offsets(stopped(lines, worker), worker, at(-1))
    assert "need to be manually altered" in message
    assert f"is not asked about the offsets of {lines['name']}: No Java was found" in caplog.text
