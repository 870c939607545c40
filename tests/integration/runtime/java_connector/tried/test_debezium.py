"""Change data capture: Debezium's connector for PostgreSQL as a hosted source that is off between two runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.connect.debezium import APICURIO, debezium_folder
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import debezium_config, drop_slots, write_wal
from tests.support.kafka import read_values

# More than Debezium hands over at once.
ROWS = 3000

pytestmark = pytest.mark.usefixtures("one_jvm")

Go = Callable[..., RunReport]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return debezium_folder(tmp_path_factory.mktemp("plugins"))


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> Iterator[PostgresDatabase]:
    """With a table `item`, and without slots at the end: they would keep WAL."""
    database = postgres.create_database()
    database.execute("create table item (id int primary key, v text, n int)")
    database.execute(f"insert into item select i, 'v' || i, 0 from generate_series(1, {ROWS}) i")
    yield database
    drop_slots(database)


@pytest.fixture(scope="module")
def config(database: PostgresDatabase) -> dict[str, str]:
    """A connector whose runs belong together."""
    name = unique("shop")
    return {
        "name": name,
        **debezium_config(database, database.name),
        "topic.prefix": name,
        "table.include.list": "public.item",
        "publication.autocreate.mode": "filtered",
        "publication.name": f"pub_{database.name}",
        # As the guide has it: so that the WAL of other tables is released.
        "heartbeat.interval.ms": "500",
        "heartbeat.action.query": "select pg_logical_emit_message(true, 'heartbeat', now()::text)",
        "offset.mismatch.strategy": "trust_offset",
        # Debezium looks every half second.
        "kconnect.hosted.idle.ms": "2000",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }


@pytest.fixture
def go(worker_props: dict[str, str], plugins: Path, config: dict[str, str]) -> Go:
    def go(**more: str) -> RunReport:
        worker = {**worker_props, "plugin.path": str(plugins), "group.id": f"group-{config['name']}"}
        return run(RunSpec({**config, **more}, worker, run_id=unique("run")))

    return go


def _events(bootstrap: str, config: dict[str, str], since: int = 0) -> list[dict[str, Any]]:
    """The committed change events; None stands for a tombstone and is left out."""
    values = read_values(bootstrap, f"{config['topic.prefix']}.public.item")
    return [json.loads(value) for value in values if value is not None][since:]


@pytest.mark.timeout(600)
def test_a_table_then_exactly_its_changes(
    bootstrap: str, database: PostgresDatabase, config: dict[str, str], go: Go
) -> None:
    """One story, since each step needs the runs before it."""
    first = go()
    assert (first.guarantee, first.complete) == ("exactly_once", True)
    events = _events(bootstrap, config)
    assert sorted(event["after"]["id"] for event in events) == list(range(1, ROWS + 1))
    assert first.notes["replication_slot"]["wal_status"] == "reserved"

    database.execute("update item set n = n + 1 where id <= 100")
    database.execute("delete from item where id = 5")
    database.execute("insert into item values (0, 'new', 0)")
    second = go()
    assert second.guarantee == "exactly_once"
    changes = _events(bootstrap, config, ROWS)
    assert sorted(event["op"] for event in changes) == ["c", "d", *["u"] * 100]
    assert len({(event["source"]["lsn"], str(event["before"] or event["after"])) for event in changes}) == 102
    assert _rebuilt(_events(bootstrap, config)) == dict(database.execute("select id, n from item"))


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_wal_of_other_tables_constant_writes_and_a_slot_that_is_gone(
    bootstrap: str, database: PostgresDatabase, config: dict[str, str], go: Go
) -> None:
    """One story, since each step needs the runs before it."""
    go()
    before = len(_events(bootstrap, config))
    # Nothing is captured of this WAL, but the heartbeat is.
    write_wal(database, 20)
    third = go()
    assert len(_events(bootstrap, config)) == before
    assert third.notes["replication_slot"]["behind_bytes"] < 10_000_000

    with _writer(database):
        fourth = go()
    assert fourth.notes["ended"] == "caught up"

    rest = go()
    rebuilt = _rebuilt(_events(bootstrap, config))
    assert rebuilt == dict(database.execute("select id, n from item"))
    assert rest.complete

    drop_slots(database)
    with pytest.raises(ConfigError, match="does not exist, but the connector has offsets"):
        go()


@pytest.mark.exhaustive
def test_the_avro_converter_of_a_third_party_writes_the_events(
    bootstrap: str,
    registry_url: str,
    database: PostgresDatabase,
    config: dict[str, str],
    worker_props: dict[str, str],
    tmp_path: Path,
) -> None:
    name = unique("avro")
    own = {"name": name, "topic.prefix": name, "slot.name": name.replace("-", "_")}
    avro = {
        "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
        "value.converter.apicurio.registry.url": registry_url.replace("/apis/ccompat/v7", "/apis/registry/v2"),
        "value.converter.apicurio.registry.auto-register": "true",
        "value.converter.apicurio.registry.headers.enabled": "false",
        "value.converter.apicurio.registry.as-confluent": "true",
        "value.converter.apicurio.registry.id-handler": "io.apicurio.registry.serde.Legacy4ByteIdHandler",
        "value.converter.apicurio.registry.use-id": "contentId",
    }
    plugins = debezium_folder(tmp_path / "plugins", APICURIO)
    worker = {**worker_props, "plugin.path": str(plugins)}
    report = run(RunSpec({**config, **own, "publication.name": own["slot.name"], **avro}, worker, run_id=unique("run")))
    assert (report.guarantee, report.complete) == ("exactly_once", True)
    values = [value for value in read_values(bootstrap, f"{name}.public.item") if value is not None]
    # Framed like Confluent's: a zero, four bytes of the schema's id, Avro.
    assert {value[0] for value in values} == {0}
    assert [int.from_bytes(value[1:5]) > 0 for value in values] == [True] * len(values)
    rows = database.execute("select v from item")
    assert len(values) == len(rows)
    assert all(any(row.encode() in value for value in values) for (row,) in rows[:20])


def _rebuilt(events: list[dict[str, Any]]) -> dict[int, int]:
    """The table, from all its changes."""
    rows: dict[int, int] = {}
    for event in events:
        if event["after"] is None:
            rows.pop(event["before"]["id"])
        else:
            rows[event["after"]["id"]] = event["after"]["n"]
    return rows


class _writer:
    """Writes to the table all the time."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database, self._done = database, threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _write(self) -> None:
        with self._database.connect() as connection:
            number = 0
            while not self._done.wait(0.02):
                number += 1
                connection.execute("insert into item values (%s, 'load', %s)", [-number, number])
