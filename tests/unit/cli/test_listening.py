"""A broker of this machine that does not run is an error at once, which names the command that starts it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local.ports import free_port


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def open_port() -> Iterator[int]:
    """A port where something listens on the IPv4 loopback address alone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.9", "[::1]", "PLAINTEXT://localhost"])
def test_an_address_of_this_machine_that_refuses_is_an_error(home: Path, host: str) -> None:
    servers = f"{host}:{free_port()}"
    with pytest.raises(RetriableError, match="the connection is refused") as caught:
        check_listening({"bootstrap.servers": servers})
    assert servers in str(caught.value)


def test_one_that_listens_is_none(open_port: int) -> None:
    check_listening({"bootstrap.servers": f"localhost:{open_port}"})


def test_one_of_several_is_enough(open_port: int) -> None:
    check_listening({"bootstrap.servers": f"localhost:{free_port()}, 127.0.0.1:{open_port}"})


@pytest.mark.parametrize("servers", ["broker.example:9092", "10.1.2.3:9092", "localhost:1,broker:9092", "${env:K}", ""])
def test_other_addresses_are_left_to_the_client(servers: str) -> None:
    check_listening({"bootstrap.servers": servers})


def test_the_broker_of_this_package_is_started_by_its_command(home: Path) -> None:
    port = free_port()
    (home / "broker").mkdir()
    (home / "broker" / "server.properties").write_text(
        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:1\n"
    )
    with pytest.raises(RetriableError, match=rf"Start it with `kconnect broker start --port {port}`"):
        check_listening({"bootstrap.servers": f"127.0.0.1:{port}"})


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["status"],
        ["describe", "x"],
        ["pause", "x"],
        ["lag"],
        ["offsets", "show", "x"],
        ["dlq", "count", "x"],
        ["topic", "tail", "t"],
        ["run", "x"],
        ["run", "FILE"],
        ["validate", "x"],
        ["preview", "x"],
        ["apply", "-f", "FILE"],
        ["create", "FILE"],
    ],
    ids=" ".join,
)
def test_every_command_says_it_at_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "lines.json"
    file.write_text(json.dumps({"name": "l", "connector.class": "FileStreamSource", "file": "/x", "topic": "t"}))
    words = [str(file) if word == "FILE" else word for word in command]
    result = CliRunner().invoke(app, [*words, "--bootstrap-servers", f"localhost:{free_port()}"])
    assert result.exit_code == 3, result.output
    assert "kconnect broker start" in result.output
