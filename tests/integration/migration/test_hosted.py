"""`kconnect migrate` of Java connectors that stay Java: hosted here, in a Connect worker of the run's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.hosted.installing.install import install
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import NumberedFile
from tests.support import unique
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.connect.tried import example
from tests.support.connect.worker import ConnectWorker
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import produce, read_values

JDBC = "io.debezium:debezium-connector-jdbc:3.5.0.Final"

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(600)]

Start = Callable[[dict[str, str]], None]


@pytest.fixture(scope="module")
def plugin_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plug-ins of our side."""
    folder = plugin_folder(tmp_path_factory.mktemp("plugins"), FILE)
    install(JDBC, folder)
    return folder


@pytest.fixture(scope="module")
def connect(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """A worker with Debezium's JDBC sink, exactly-once on."""
    folder, group = tmp_path_factory.mktemp("connect"), unique("cluster")
    with ConnectWorker.of_group(folder, bootstrap, group, heap_mb=384, plugins=(JDBC,)) as worker:
        yield worker


@pytest.fixture
def ours(side: Callable[..., Side], plugin_path: Path) -> Side:
    """Our side, with the same plug-ins."""
    return side(**{"plugin.path": str(plugin_path)})


def run_file(side: Side, name: str) -> RunReport:
    """Run the file of a connector, as its task would: nothing of Spark is needed."""
    config = json.loads((side.folder / f"{name}.json").read_text())
    return run(RunSpec(config, side.keys, run_id=unique("run")))


def test_a_java_source_moves_here_and_back_twice(
    ours: Side,
    connect: ConnectWorker,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Start,
) -> None:
    name, topic = source["name"], source["topic"]
    # Connect ignores these keys.
    hosted = {**source, "kconnect.hosted": "true", "kconnect.hosted.idle.ms": "1000"}

    def values() -> list[bytes | None]:
        return read_values(bootstrap, topic)

    numbered.append(100)
    start_in_connect(hosted)
    wait_until(lambda: len(values()) >= 100, "Connect writing")
    assert "Java class" in str(ours.survey(name))
    for _ in range(2):
        ours.move(name)
        assert connect.status(name)["connector"]["state"] == "STOPPED"
        numbered.append(50)
        assert run_file(ours, name).records["written"] == 50
        numbered.append(30)
        ours.back(name)
        wait_until(lambda: len(values()) >= numbered.lines, "Connect continuing")
        assert values() == numbered.expected()


def _order(number: int) -> tuple[str, str]:
    """Key and value of an order, as the JSON converter writes them with schemas."""

    def with_schema(fields: dict[str, str], row: dict[str, Any]) -> str:
        described = [{"field": field, "type": kind, "optional": False} for field, kind in fields.items()]
        return json.dumps({"schema": {"type": "struct", "optional": False, "fields": described}, "payload": row})

    key = with_schema({"id": "int32"}, {"id": number})
    return key, with_schema({"id": "int32", "item": "string"}, {"id": number, "item": f"item {number}"})


def test_a_java_sink_moves_here_and_back(
    ours: Side,
    topic: Callable[..., str],
    bootstrap: str,
    postgres: PostgresServer,
    start_in_connect: Start,
) -> None:
    """It inserts and has no key: a record that comes twice would be two rows."""
    database, orders = postgres.create_database(), topic(partitions=2)
    database.execute("create table orders (id int, item text)")
    places = {
        "topics": orders,
        "connection.url": database.url,
        "connection.username": str(database.user),
        "connection.password": str(database.password),
    }
    plain = {"insert.mode": "insert", "delete.enabled": "false", "primary.key.mode": "none"}
    sink = {**example("orders-to-postgres", places), **plain, "schema.evolution": "none"}
    name = sink["name"]

    def add(first: int, end: int) -> None:
        for number in range(first, end):
            key, value = _order(number)
            produce(bootstrap, orders, [value], key=key)

    def rows() -> list[int]:
        return [number for (number,) in database.execute("select id from orders order by id")]

    add(0, 100)
    start_in_connect(sink)
    wait_until(lambda: len(rows()) >= 100, "Connect's sink writing")
    ours.move(name)
    assert rows() == list(range(100))
    add(100, 150)
    assert run_file(ours, name).records["written"] == 50
    assert rows() == list(range(150))
    add(150, 170)
    ours.back(name)
    wait_until(lambda: len(rows()) >= 170, "Connect's sink continuing")
    assert rows() == list(range(170))
