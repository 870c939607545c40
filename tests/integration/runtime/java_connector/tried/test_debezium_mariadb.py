"""Change data capture from MariaDB: a binary log that no slot keeps, and a topic with the history of definitions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.installing.install import install
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.ports import LOOPBACK
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.stores.offset_changes.source import SourceOffsets
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connect.tried import example
from tests.support.databases.mariadb import MariaDatabase, MariaServer
from tests.support.kafka import read_all, read_values

COORDINATES = "io.debezium:debezium-connector-mariadb:3.5.0.Final"
ROWS = 300
PASSWORD = "tr0ub4dor&3"

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(900)]

Go = Callable[..., RunReport]


@pytest.fixture(scope="module")
def database(mariadb_with_binary_log: MariaServer) -> MariaDatabase:
    database = mariadb_with_binary_log.create_database()
    database.execute("create table orders (id int primary key, v varchar(20), n int)")
    rows = ", ".join(f"({n}, 'v{n}', 0)" for n in range(1, ROWS + 1))
    database.execute(f"insert into orders values {rows}")
    database.execute("create table noise (content longtext)")
    return database


@pytest.fixture(scope="module")
def config(database: MariaDatabase) -> dict[str, str]:
    """A connector whose runs belong together."""
    prefix = unique("shop")
    return example(
        "shop-changes",
        {
            "database.hostname": LOOPBACK,
            "database.port": str(database.port),
            "database.user": str(database.user),
            "database.password": str(database.password),
            "database.include.list": database.name,
            "table.include.list": f"{database.name}.orders",
            "topic.prefix": prefix,
            "schema.history.internal.kafka.topic": f"{prefix}-history",
        },
        # Far longer than it takes to read what is there: the end of the binary log is what ends these runs.
        kconnect_hosted_idle_ms="60000",
    )


@pytest.fixture
def worker(worker_props: dict[str, str], config: dict[str, str], plugins: Path) -> dict[str, str]:
    return {**worker_props, "plugin.path": str(plugins), "group.id": f"group-{config['name']}"}


@pytest.fixture
def go(worker: dict[str, str], config: dict[str, str]) -> Go:
    def go(**more: str) -> RunReport:
        return run(RunSpec({**config, **more}, worker, run_id=unique("run")))

    return go


@pytest.fixture
def reset(worker: dict[str, str], config: dict[str, str]) -> Callable[[], bool]:
    """What `kconnect offsets reset` does."""

    def reset() -> bool:
        known = WorkerConfig.from_props(worker)
        return SourceOffsets(validate_connector(config, worker=known), known).reset()

    return reset


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugins")
    install(COORDINATES, folder)
    return folder


def test_a_table_then_exactly_its_changes_also_in_a_new_column(
    bootstrap: str, database: MariaDatabase, config: dict[str, str], go: Go
) -> None:
    """One story, since each step needs the runs before it."""
    first = go()
    assert (first.guarantee, first.complete, first.notes["ended"]) == ("exactly_once", True, "caught up")
    events = _events(bootstrap, config, database)
    assert sorted(event["after"]["id"] for event in events) == list(range(1, ROWS + 1))
    assert _settings(bootstrap, config["schema.history.internal.kafka.topic"]) == ("delete", "9223372036854775807")

    database.execute("update orders set n = n + 1 where id <= 10")
    database.execute("alter table orders add column note varchar(20)")
    database.execute("delete from orders where id = 5")
    database.execute("insert into orders values (0, 'new', 0, 'noted')")
    second = go()
    assert (second.guarantee, second.notes["ended"]) == ("exactly_once", "caught up")
    changes = _events(bootstrap, config, database)[ROWS:]
    assert [event["op"] for event in changes] == [*["u"] * 10, "d", "c"]
    assert changes[-1]["after"] == {"id": 0, "v": "new", "n": 0, "note": "noted"}
    assert _rebuilt(_events(bootstrap, config, database)) == dict(database.execute("select id, n from orders"))


def test_under_constant_writes_a_run_ends_and_heartbeats_move_its_offsets_along(
    database: MariaDatabase, config: dict[str, str], go: Go
) -> None:
    """Else the binary log of other tables could be removed below them."""
    go()
    for _ in range(5):
        database.execute("insert into noise values (repeat('x', 1000000))")
    with _writer(database):
        report = go()
    assert report.notes["ended"] == "caught up"
    [offset] = report.offsets
    assert report.notes["binary_log"]["position"] > 5_000_000
    assert offset["offset"]["pos"] > 5_000_000


def test_a_binary_log_that_was_purged_is_explained_and_the_tables_can_be_read_again(
    bootstrap: str, database: MariaDatabase, config: dict[str, str], go: Go, reset: Callable[[], bool]
) -> None:
    go()
    database.execute("insert into orders (id, n) values (1000, 7)")
    database.execute("flush binary logs")
    [[file, *_]] = database.execute("show master status")
    database.execute(f"purge binary logs to '{file}'")
    with pytest.raises(ConfigError, match="no longer has the binary log from") as caught:
        go()
    assert list(caught.value.errors) == ["snapshot.mode"]

    reset()
    assert go().complete
    assert _rebuilt(_events(bootstrap, config, database)) == dict(database.execute("select id, n from orders"))


def test_the_schema_history_logs_in_as_the_worker_does(
    database: MariaDatabase, config: dict[str, str], plugins: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    broker = EmbeddedBroker(tmp_path_factory.mktemp("strict"), heap_mb=256, sasl_users={"ann": PASSWORD})
    broker.start()
    worker = {
        "bootstrap.servers": broker.sasl_bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ann",
        "sasl.password": PASSWORD,
        "plugin.path": str(plugins),
        "group.id": "strict",
    }
    try:
        report = run(RunSpec({**config, "database.server.id": "5401"}, worker, run_id="run"))
        assert (report.complete, report.guarantee) == (True, "exactly_once")
        stored = b"".join(
            record.value or b"" for record in read_all(broker.bootstrap, f"strict-{config['name']}-configs")
        )
    finally:
        broker.stop()
    assert b"schema.history.internal.producer.sasl.jaas.config" in stored
    assert PASSWORD.encode() not in stored


def _events(bootstrap: str, config: dict[str, str], database: MariaDatabase) -> list[dict[str, Any]]:
    """The committed change events, without tombstones."""
    values = read_values(bootstrap, f"{config['topic.prefix']}.{database.name}.orders")
    return [json.loads(value) for value in values if value is not None]


def _rebuilt(events: list[dict[str, Any]]) -> dict[int, int]:
    """The table, from all its changes."""
    rows: dict[int, int] = {}
    for event in events:
        if event["after"] is None:
            rows.pop(event["before"]["id"])
        else:
            rows[event["after"]["id"]] = event["after"]["n"]
    return rows


def _settings(bootstrap: str, topic: str) -> tuple[str, str]:
    """How the only partition of a topic is cleaned up, and how long its records are kept."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    assert len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 1
    [found] = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    entries = found.result(10)
    return str(entries["cleanup.policy"].value), str(entries["retention.ms"].value)


@contextmanager
def _writer(database: MariaDatabase) -> Iterator[None]:
    """Writes to another table all the time."""
    done = threading.Event()

    def write() -> None:
        with database.connect() as connection:
            while not done.wait(0.02):
                connection.cursor().execute("insert into noise values ('load')")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
