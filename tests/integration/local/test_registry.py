"""The local schema registry: it starts, keeps its schemas, and stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.local.registry import LocalRegistry
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config
from airflow_kconnect.registry.schema import RegisteredSchema

STRING = RegisteredSchema("AVRO", '{"type":"string"}')


def _client(url: str) -> SchemaRegistry:
    return SchemaRegistry(registry_config(ConfigDef()).parse({"schema.registry.url": url}))


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """`told("status", "--json")`: a command about a registry of its own."""
    data = str(tmp_path / "data")
    yield lambda *command: CliRunner().invoke(app, ["registry", *command, "--data", data])
    LocalRegistry(data).stop()


def test_the_commands_start_it_leave_it_as_it_is_and_stop_it_and_schemas_stay(
    told: Callable[..., Result], tmp_path: Path
) -> None:
    start = f"start --port {free_port()}"
    registry = LocalRegistry(tmp_path / "data")

    codes = [told(*command.split()).exit_code for command in ("status", start, start, "status")]
    number = _client(str(registry.url)).register("t-value", STRING)
    codes += [told(*command.split()).exit_code for command in ("stop", "status", start)]

    assert codes == [3, 0, 0, 0, 0, 3, 0]
    assert _client(str(registry.url)).schema_by_id(number) == STRING
