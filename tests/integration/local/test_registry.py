"""The local schema registry: it starts, keeps its schemas, and stops."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.local.registry import LocalRegistry
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config
from airflow_kconnect.registry.schema import RegisteredSchema

STRING = RegisteredSchema("AVRO", '{"type":"string"}')


def _client(url: str) -> SchemaRegistry:
    return SchemaRegistry(registry_config(ConfigDef()).parse({"schema.registry.url": url}))


def test_schemas_are_there_after_a_restart(tmp_path: Path) -> None:
    registry = LocalRegistry(tmp_path / "data")
    try:
        number = _client(str(registry.start().url)).register("t-value", STRING)
        registry.stop()

        assert _client(str(registry.start().url)).schema_by_id(number) == STRING
    finally:
        registry.stop()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """`told("status", "--json")`: a command about a registry of its own."""
    data = str(tmp_path / "data")
    yield lambda *command: CliRunner().invoke(app, ["registry", *command, "--data", data])
    LocalRegistry(data).stop()


def test_the_commands_start_it_leave_it_as_it_is_and_stop_it(told: Callable[..., Result]) -> None:
    start = f"start --port {free_port()}"
    codes = [told(*command.split()).exit_code for command in ("status", start, start, "status", "stop", "status")]

    assert codes == [3, 0, 0, 0, 0, 3]


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(SetupError, match=f"Port {port} is taken"):
            LocalRegistry(tmp_path / "data", port=port).start()


def test_one_that_never_ran_is_stopped(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["registry", "status", "--data", str(tmp_path)]).exit_code == 3
