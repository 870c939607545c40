"""Kafka to PostgreSQL end to end: upserts, Debezium's events, tombstones, bad records, resuming, shapes on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import DataError
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases import Database
from tests.support.kafka import read_all
from tests.support.postgres import PostgresServer

JSON = "org.apache.kafka.connect.json.JsonConverter"
KEYED = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true", "auto.create": "true"}
TOLERANT = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}

Message = tuple[Any, Any]
"""Key and value; None is no value."""


def struct(called: str | None = None, optional: bool = False, **fields: Any) -> dict[str, Any]:
    """A schema in JsonConverter's words; a field is the name of its type, with ``?`` if it may be null, or a schema."""
    members = [
        {**(kind if isinstance(kind, dict) else {"type": kind.rstrip("?"), "optional": kind.endswith("?")}), "field": n}
        for n, kind in fields.items()
    ]
    return {"type": "struct", "optional": optional, "fields": members, **({"name": called} if called else {})}


ROW = struct(id="int32", name="string?")
KEY = struct(id="int32")


def envelope(schema: Mapping[str, Any], payload: Any) -> str:
    return json.dumps({"schema": schema, "payload": payload}, separators=(",", ":"))


def row(number: int, name: str | None) -> Message:
    return envelope(KEY, {"id": number}), envelope(ROW, {"id": number, "name": name})


def tombstone(number: int) -> Message:
    return envelope(KEY, {"id": number}), None


def send(bootstrap: str, topic: str, messages: Iterable[Message], partition: int = 0) -> None:
    """Write messages with keys to a partition."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    for key, value in messages:
        producer.produce(topic, value, key, partition)
        producer.poll(0)
    assert producer.flush(30) == 0


@pytest.fixture
def database(postgres: PostgresServer) -> Database:
    """An empty database of PostgreSQL."""
    return postgres.create_database()


@pytest.fixture
def config(topic: Callable[..., str], database: Database) -> dict[str, str]:
    """A sink from an empty topic to the table `t`."""
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic(),
        "table.name.format": "t",
        "key.converter": JSON,
        "value.converter": JSON,
        **database.config,
    }


def table(database: Database) -> list[tuple[Any, ...]]:
    return database.execute("SELECT * FROM t ORDER BY 1")


def test_upserts_resume_where_they_stopped(
    config: dict[str, str], bootstrap: str, database: Database, run_here: Run
) -> None:
    send(bootstrap, config["topics"], [row(1, "a"), row(2, "b"), row(1, "tab\t\\ 'ü\n")])
    report = run_here({**config, **KEYED})
    assert (report.guarantee, report.records["written"], report.notes["tables"]) == ("exactly_once", 3, ["t"])
    send(bootstrap, config["topics"], [row(3, None), tombstone(2)])
    assert run_here({**config, **KEYED}).records["written"] == 2
    assert table(database) == [(1, "tab\t\\ 'ü\n"), (3, None)]
    stored = database.execute("SELECT connector, topic, partition, next_offset FROM kconnect_offsets")
    assert stored == [(config["name"], config["topics"], 0, 5)]


def test_what_only_spark_can_read_takes_one_more_round(
    config: dict[str, str], bootstrap: str, database: Database, run_here: Run
) -> None:
    send(bootstrap, config["topics"], [row(n, f"name {n}") for n in range(12_000)])
    assert run_here({**config, **KEYED}).notes["rounds"] == 1
    more = [*(row(n, "again") for n in range(11_000)), tombstone(11_999), row(11_998, "last")]
    send(bootstrap, config["topics"], more)
    report = run_here({**config, **KEYED})
    assert (report.notes["rounds"], report.records["written"]) == (2, len(more))
    assert database.execute("SELECT count(*), max(name), max(id) FROM t WHERE name <> 'last'") == [
        (11_998, "name 11997", 11_997)
    ]


def test_shapes_that_nobody_knew(config: dict[str, str], bootstrap: str, database: Database, run_here: Run) -> None:
    wide = struct(id="int32", name="string?", size="int64?")
    late = (envelope(KEY, {"id": 9}), envelope(wide, {"id": 9, "name": "wide", "size": 5}))
    messages = [*(row(n % 3, f"v{n}") for n in range(300)), late, row(1, "last"), tombstone(2)]
    send(bootstrap, config["topics"], messages)
    report = run_here({**config, **KEYED, "auto.evolve": "true"})
    assert table(database) == [(0, "v297", None), (1, "last", None), (9, "wide", 5)]
    assert report.records["written"] == len(messages)


def test_debeziums_events(config: dict[str, str], bootstrap: str, database: Database, run_here: Run) -> None:
    side = struct(optional=True, id="int32", name="string?")
    event = struct("db.public.people.Envelope", before=side, after=side, op="string")

    def change(number: int, before: str | None, after: str | None, op: str) -> Message:
        sides = {"before": before and {"id": number, "name": before}, "after": after and {"id": number, "name": after}}
        return envelope(KEY, {"id": number}), envelope(event, {**sides, "op": op})

    messages = [
        change(1, None, "a", "r"),
        change(2, None, "b", "c"),
        change(1, "a", "c", "u"),
        change(2, "b", None, "d"),
        tombstone(2),
        change(3, None, "d", "c"),
    ]
    send(bootstrap, config["topics"], messages)
    run_here({**config, **KEYED})
    assert table(database) == [(1, "c"), (3, "d")]


def test_bad_records_become_dead_letters(
    config: dict[str, str], bootstrap: str, database: Database, topic: Callable[..., str], run_here: Run
) -> None:
    bad = [row(2, "nul \0 here"), (None, row(3, "no key")[1]), (row(4, "")[0], envelope(struct(id="int32"), 5))]
    send(bootstrap, config["topics"], [row(1, "a"), *bad, row(5, "b")])
    dead_letters = topic()
    with pytest.raises(DataError, match=rf"{config['topics']}-0@1: TASK_PUT by .*field `name` has a NUL character"):
        run_here({**config, **KEYED})
    assert table(database) == [(1, "a")]
    report = run_here({**config, **KEYED, **TOLERANT, "errors.deadletterqueue.topic.name": dead_letters})
    assert (report.records["written"], report.records["dead_lettered"]) == (1, 3)
    assert table(database) == [(1, "a"), (5, "b")]
    messages = [
        dict(record.headers)["__connect.errors.exception.message"] for record in read_all(bootstrap, dead_letters)
    ]
    assert b"NUL character" in messages[0]
    assert b"key is null" in messages[1]


def test_values_that_do_not_fit_are_named_by_their_place(
    config: dict[str, str], bootstrap: str, database: Database, run_here: Run
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, name varchar(5))")
    send(bootstrap, config["topics"], [row(1, "a"), row(2, "secret value"), row(3, "c")])
    for keys in ({}, KEYED):
        with pytest.raises(DataError) as raised:
            run_here({**config, **keys})
        assert "table t, offset 1, column name: value too long for type character varying(5)" in str(raised.value)
        assert "secret" not in str(raised.value)
    assert table(database) == []


def test_plain_inserts_of_two_partitions(
    config: dict[str, str], topic: Callable[..., str], bootstrap: str, database: Database, run_here: Run
) -> None:
    name = topic(partitions=2)
    for partition in (0, 1):
        send(bootstrap, name, [row(n * 2 + partition, f"v{n}") for n in range(20_000)], partition)
    run_here({**config, "topics": name, "auto.create": "true"})
    assert database.execute("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t") == [
        (40_000, 40_000, 0, 39_999)
    ]


INSERT_FIELD = {"transforms": "f", "transforms.f.type": "InsertField$Value", "transforms.f.static.field": "from"}


@pytest.fixture(params=["past the JVM", "through Catalyst"])
def refusing(request: pytest.FixtureRequest, config: dict[str, str], bootstrap: str, database: Database) -> Any:
    """A sink whose table takes names of at most five characters, with records of which two are longer."""
    database.execute('create table t (id integer primary key, name varchar(5), "from" text)')
    send(bootstrap, config["topics"], [row(1, "a"), row(2, "too long"), row(3, "c"), row(4, "also too long")])
    stage = {**INSERT_FIELD, "transforms.f.static.value": "here"} if "Catalyst" in request.param else {}
    dead = {"errors.deadletterqueue.topic.name": unique("dead")}
    return {**config, "insert.mode": "upsert", "pk.mode": "record_key", **TOLERANT, **dead, **stage}


class TestRefusedRecords:
    def test_the_others_are_written(self, refusing: dict[str, str], database: Database, run_here: Run) -> None:
        run_here(refusing)
        assert database.execute("select id, name from t order by 1") == [(1, "a"), (3, "c")]

    def test_the_report_reconciles(self, refusing: dict[str, str], run_here: Run) -> None:
        assert run_here(refusing).records == {"read": 4, "written": 2, "filtered": 0, "dead_lettered": 2}

    def test_dead_letters_are_the_original_records(
        self, refusing: dict[str, str], bootstrap: str, run_here: Run
    ) -> None:
        run_here(refusing)
        found = read_all(bootstrap, refusing["errors.deadletterqueue.topic.name"])
        expected = [row(2, "too long"), row(4, "also too long")]
        assert [((r.key or b"").decode(), (r.value or b"").decode()) for r in found] == expected

    def test_headers_say_where_and_why(self, refusing: dict[str, str], bootstrap: str, run_here: Run) -> None:
        run_here(refusing)
        headers = dict(read_all(bootstrap, refusing["errors.deadletterqueue.topic.name"])[0].headers)
        found = {name: headers[f"__connect.errors.{name}"] for name in ("stage", "offset", "exception.message")}
        assert (found["stage"], found["offset"]) == (b"TASK_PUT", b"1")
        assert b"table t" in (found["exception.message"] or b"")

    def test_a_second_run_finds_nothing(self, refusing: dict[str, str], run_here: Run) -> None:
        run_here(refusing)
        assert run_here(refusing).records["read"] == 0

    def test_without_tolerance_the_first_one_ends_the_run(
        self, refusing: dict[str, str], database: Database, run_here: Run
    ) -> None:
        with pytest.raises(DataError, match=r"table t, offset 1, column name"):
            run_here({**refusing, "errors.tolerance": "none"})
        assert table(database) == []

    def test_what_is_refused_again_is_a_dead_letter_again(
        self, refusing: dict[str, str], bootstrap: str, run_here: Run
    ) -> None:
        run_here(refusing)
        assert run_here(refusing, replay=True).records["dead_lettered"] == 2
        first, _, again, _ = read_all(bootstrap, refusing["errors.deadletterqueue.topic.name"])
        changed = {"__connect.errors.offset", "__connect.errors.exception.message"}
        changed.add("__connect.errors.exception.stacktrace")
        parts = [[h for h in record.headers if h[0] not in changed] for record in (first, again)]
        assert (again.key, again.value, parts[1]) == (first.key, first.value, parts[0])

    def test_after_a_repair_a_replay_writes_them(
        self, refusing: dict[str, str], database: Database, run_here: Run
    ) -> None:
        run_here(refusing)
        database.execute("alter table t alter column name type text")
        run_here(refusing, replay=True)
        assert database.execute("select id from t order by 1") == [(1,), (2,), (3,), (4,)]
