"""Change data capture under load while its runs are killed: the table rebuilt from the topic equals the table."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.connect.debezium import debezium_folder
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import debezium_config, drop_slots
from tests.support.kafka import read_values
from tests.support.spark.jobs import Job, command_of, kill_all, start_job, wait_gone

KEYS = 300
PHASES = ("validating", "starting the connector", "moving records", "moving records", "moving records", "stopping")
VICTIMS = ("everything", "Spark's JVM", "driver", "hosted JVM")


@dataclass
class Load:
    """Transactions of random inserts, updates and deletions, until the block ends."""

    database: PostgresDatabase
    seed: int
    statements: int = 0
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Load:
        self._thread = threading.Thread(target=self._write)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _write(self) -> None:
        choice = random.Random(self.seed)
        with self.database.connect() as connection:
            while not self._done.wait(choice.uniform(0, 0.05)):
                with connection.transaction():
                    for _ in range(choice.randint(1, 20)):
                        self._change(connection, choice)

    def _change(self, connection: Any, choice: random.Random) -> None:
        key, value = choice.randrange(KEYS), choice.randrange(10**6)
        insert = "insert into item values (%(key)s, %(value)s) on conflict (id) do update set n = excluded.n"
        update, delete = "update item set n = %(value)s where id = %(key)s", "delete from item where id = %(key)s"
        connection.execute(choice.choice([insert, update, delete]), {"key": key, "value": value})
        self.statements += 1


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[PostgresDatabase]:
    database = postgres.create_database()
    database.execute("create table item (id int primary key, n int)")
    database.execute(f"insert into item select i, 0 from generate_series(0, {KEYS - 1}) i")
    yield database
    drop_slots(database)


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("seed", "kills"), [(1, 2), *(pytest.param(seed, 8, marks=pytest.mark.exhaustive) for seed in range(2, 7))]
)
def test_nothing_is_missing_and_nothing_is_there_twice(
    seed: int, kills: int, bootstrap: str, worker_props: dict[str, str], database: PostgresDatabase, tmp_path: Path
) -> None:
    worker = {**worker_props, "plugin.path": str(debezium_folder(tmp_path / "plugins"))}
    name = unique("torture")
    config = {
        "name": name,
        **debezium_config(database, database.name, **{"publication.name": database.name}),
        **{"topic.prefix": name, "table.include.list": "public.item", "publication.autocreate.mode": "filtered"},
        "offset.mismatch.strategy": "trust_offset",
        "kconnect.hosted.idle.ms": "1000",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }

    def job(number: int) -> Job:
        return start_job(config, worker, tmp_path / f"job-{number}")

    # A snapshot that is killed begins again, see the guide: its rows are not what is counted here.
    snapshot = job(0)
    assert snapshot.wait(300) == 0, snapshot.text()
    choice, struck = random.Random(seed), Counter[str]()
    with Load(database, seed) as load:
        for number in range(1, kills + 1):
            struck[_strike(job(number), choice)] += 1
    _finish(job)

    events = [json.loads(value) for value in read_values(bootstrap, f"{name}.public.item") if value is not None]
    changes = [event for event in events if event["op"] != "r"]
    places = Counter((event["source"]["lsn"], event["op"], _key(event)) for event in changes)
    print(f"seed {seed}: {dict(struck)}, {load.statements} statements, {len(changes)} events")
    assert [place for place, count in places.items() if count > 1] == []
    assert _rebuilt(events) == dict(database.execute("select id, n from item"))
    assert changes


def _strike(job: Job, choice: random.Random) -> str:
    """Kill a part of a job at a random moment; nothing of it must remain."""
    phase, delay_s, victim = choice.choice(PHASES), choice.uniform(0, 1.5), choice.choice(VICTIMS)
    deadline = time.monotonic() + 240
    while f'"name":"{phase}"' not in job.text() and job.process.poll() is None:
        assert time.monotonic() < deadline, job.text()
        time.sleep(0.05)
    time.sleep(delay_s)
    if job.process.poll() is not None:
        job.close()
        return "too late"
    tree = job.tree()
    hosted = [process for process in tree if "py4j.GatewayServer" in command_of(process)]
    drivers = [process for process in tree[1:] if "connector_job.py" in command_of(process)]
    targets = {"Spark's JVM": tree[:1], "driver": drivers, "hosted JVM": hosted}.get(victim) or tree
    kill_all(targets)
    code = job.wait(120)
    assert code != 0, job.text()
    assert wait_gone(tree) == []
    return victim if targets is not tree else "everything"


def _finish(job: Any) -> None:
    """A run to the end; the first ones may find the group or the slot still taken by what was killed."""
    for attempt in range(5):
        last: Job = job(100 + attempt)
        code = last.wait(300)
        if code == 0:
            return
        assert code == 3, last.text()
    raise AssertionError(last.text())


def _key(event: dict[str, Any]) -> int:
    return int((event["after"] or event["before"])["id"])


def _rebuilt(events: list[dict[str, Any]]) -> dict[int, int]:
    """The table, from all its changes."""
    rows: dict[int, int] = {}
    for event in events:
        if event["op"] == "d":
            rows.pop(_key(event))
        else:
            rows[_key(event)] = event["after"]["n"]
    return rows
