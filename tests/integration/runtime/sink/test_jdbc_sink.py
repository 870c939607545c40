"""Kafka to PostgreSQL end to end: upserts, Debezium's events, tombstones, bad records, resuming, shapes on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database
from tests.support.kafka import Record, create_topic, read_all

JSON = "org.apache.kafka.connect.json.JsonConverter"
KEYED = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true", "auto.create": "true"}
TOLERANT = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}

Message = tuple[Any, Any]
"""Key and value; None: there is no value."""


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
    return _config(topic(), database)


def _config(topic: str, database: Database) -> dict[str, str]:
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic,
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


def test_shapes_that_no_one_knew(config: dict[str, str], bootstrap: str, database: Database, run_here: Run) -> None:
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
        dict(record.headers)["__connect.errors.exception.message"] or b""
        for record in read_all(bootstrap, dead_letters)
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


INSERT_FIELD = {
    "transforms": "f",
    "transforms.f.type": "InsertField$Value",
    "transforms.f.static.field": "from",
    "transforms.f.static.value": "here",
}


DEAD = "errors.deadletterqueue.topic.name"


@dataclass
class Outcome:
    """What a run has left over records of which the table takes two and refuses two."""

    config: dict[str, str]
    report: RunReport
    again: RunReport
    database: Database
    dead_letters: list[Record]


def _refusing(bootstrap: str, postgres: PostgresServer) -> tuple[dict[str, str], Database]:
    """A sink whose table takes names of at most five characters; the second and fourth record have longer ones."""
    database, name = postgres.create_database(), create_topic(bootstrap, unique("refused"))
    database.execute('create table t (id integer primary key, name varchar(5), "from" text)')
    send(bootstrap, name, [row(1, "a"), row(2, "too long"), row(3, "c"), row(4, "also too long")])
    keys = {"insert.mode": "upsert", "pk.mode": "record_key"}
    return {**_config(name, database), **keys, **TOLERANT, DEAD: unique("dead")}, database


@pytest.fixture(scope="module", params=[{}, INSERT_FIELD], ids=["past the JVM", "through Catalyst"])
def refused(
    request: pytest.FixtureRequest, spark: SparkSession, bootstrap: str, worker_topics: str, postgres: PostgresServer
) -> Outcome:
    """Two runs of such a sink."""
    config, database = _refusing(bootstrap, postgres)
    config |= request.param
    first, again = (run(RunSpec(config, worker_config(bootstrap)), spark) for _ in range(2))
    return Outcome(config, first, again, database, read_all(bootstrap, config[DEAD]))


class TestRefusedRecords:
    def test_the_others_are_written(self, refused: Outcome) -> None:
        assert refused.database.execute("select id, name from t order by 1") == [(1, "a"), (3, "c")]

    def test_the_report_reconciles(self, refused: Outcome) -> None:
        assert refused.report.records == {"read": 4, "written": 2, "filtered": 0, "dead_lettered": 2}

    def test_dead_letters_are_the_original_records(self, refused: Outcome) -> None:
        found = [((r.key or b"").decode(), (r.value or b"").decode()) for r in refused.dead_letters]
        assert found == [row(2, "too long"), row(4, "also too long")]

    def test_headers_say_where_and_why(self, refused: Outcome) -> None:
        headers = dict(refused.dead_letters[0].headers)
        found = {name: headers[f"__connect.errors.{name}"] for name in ("stage", "offset", "exception.message")}
        assert (found["stage"], found["offset"]) == (b"TASK_PUT", b"1")
        assert b"table t" in (found["exception.message"] or b"")

    def test_a_second_run_finds_nothing(self, refused: Outcome) -> None:
        assert refused.again.records["read"] == 0

    def test_a_replay_writes_what_is_taken_now_and_refuses_the_rest_again(
        self, bootstrap: str, postgres: PostgresServer, run_here: Run
    ) -> None:
        config, database = _refusing(bootstrap, postgres)
        run_here(config)
        database.execute("alter table t alter column name type varchar(8)")
        assert run_here(config, replay=True).records["dead_lettered"] == 1
        assert [number for number, *_ in table(database)] == [1, 2, 3]
        _, first, again = read_all(bootstrap, config[DEAD])
        assert (again.key, again.value, _place(again)) == (first.key, first.value, _place(first))


def _place(record: Record) -> list[tuple[str, bytes | None]]:
    """The headers that are the same whenever a record fails."""
    changing = ("offset", "exception.message", "exception.stacktrace")
    return [header for header in record.headers if not header[0].endswith(changing)]
