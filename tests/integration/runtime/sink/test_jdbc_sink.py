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


def table(database: Database, name: str = "t") -> list[tuple[Any, ...]]:
    return database.execute(f'SELECT * FROM "{name}" ORDER BY 1')


def test_upserts_resume_where_they_stopped_and_what_only_spark_can_read_takes_one_more_round(
    config: dict[str, str], bootstrap: str, database: Database, run_here: Run
) -> None:
    send(bootstrap, config["topics"], [row(n, f"name {n}") for n in range(12_000)])
    report = run_here({**config, **KEYED})
    assert (report.guarantee, report.notes["tables"], report.notes["rounds"]) == ("exactly_once", ["t"], 1)
    more = [
        *(row(n, "again") for n in range(11_000)),
        tombstone(11_999),
        row(11_998, "tab\t\\ 'ü\n"),
        row(11_997, None),
    ]
    send(bootstrap, config["topics"], more)
    report = run_here({**config, **KEYED})
    assert (report.notes["rounds"], report.records["written"]) == (2, len(more))
    assert database.execute("SELECT count(*), count(name), max(name) FROM t WHERE id < 11997") == [
        (11_997, 11_997, "name 11996")
    ]
    assert database.execute("SELECT * FROM t WHERE id > 11996 ORDER BY 1") == [
        (11_997, None), (11_998, "tab\t\\ 'ü\n")
    ]  # fmt: skip
    stored = database.execute("SELECT connector, topic, partition, next_offset FROM kconnect_offsets")
    assert stored == [(config["name"], config["topics"], 0, 12_000 + len(more))]


def test_shapes_that_no_one_knew_and_debeziums_events(
    config: dict[str, str], topic: Callable[..., str], bootstrap: str, database: Database, run_here: Run
) -> None:
    wide = struct(id="int32", name="string?", size="int64?")
    late = (envelope(KEY, {"id": 9}), envelope(wide, {"id": 9, "name": "wide", "size": 5}))
    messages = [*(row(n % 3, f"v{n}") for n in range(300)), late, row(1, "last"), tombstone(2)]
    send(bootstrap, config["topics"], messages)

    side = struct(optional=True, id="int32", name="string?")
    event = struct("db.public.people.Envelope", before=side, after=side, op="string")

    def change(number: int, before: str | None, after: str | None, op: str) -> Message:
        sides = {"before": before and {"id": number, "name": before}, "after": after and {"id": number, "name": after}}
        return envelope(KEY, {"id": number}), envelope(event, {**sides, "op": op})

    changes = [
        change(1, None, "a", "r"),
        change(2, None, "b", "c"),
        change(1, "a", "c", "u"),
        change(2, "b", None, "d"),
        tombstone(2),
        change(3, None, "d", "c"),
    ]
    people = topic()
    send(bootstrap, people, changes)
    topics = {"topics": f"{config['topics']},{people}", "table.name.format": "${topic}"}
    report = run_here({**config, **KEYED, **topics, "auto.evolve": "true"})
    assert table(database, config["topics"]) == [(0, "v297", None), (1, "last", None), (9, "wide", 5)]
    assert table(database, people) == [(1, "c"), (3, "d")]
    assert report.records["written"] == len(messages) + len(changes)


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


DEAD = "errors.deadletterqueue.topic.name"
REFUSED = [row(2, "too long"), row(4, "also too long")]
"""By the table."""
BAD = [row(5, "nul \0 here"), (None, row(6, "no key")[1]), (row(7, "")[0], envelope(struct(id="int32"), 5))]
"""For the sink, or the converter."""


@dataclass
class Outcome:
    """What runs have left over records of which two are written, until the table takes a third.

    :param bad: those that are not refused by the table. :param written: by the first run.
    """

    config: dict[str, str]
    bad: list[Message]
    report: RunReport
    written: list[tuple[Any, ...]]
    again: RunReport
    replay: RunReport
    database: Database
    dead_letters: list[Record]

    def of_first_run(self) -> list[Record]:
        return self.dead_letters[: 2 + len(self.bad)]


@pytest.fixture(scope="module", params=[[], BAD], ids=["past the JVM", "through Catalyst"])
def refused(
    request: pytest.FixtureRequest, spark: SparkSession, bootstrap: str, worker_topics: str, postgres: PostgresServer
) -> Outcome:
    """Two runs of a sink whose table takes names of at most five characters, and a replay when it takes eight."""
    database, name, bad = postgres.create_database(), create_topic(bootstrap, unique("refused")), request.param
    database.execute("create table t (id integer primary key, name varchar(5))")
    send(bootstrap, name, [row(1, "a"), REFUSED[0], row(3, "c"), REFUSED[1], *bad])
    keys = {"insert.mode": "upsert", "pk.mode": "record_key"}
    config = {**_config(name, database), **keys, **TOLERANT, DEAD: unique("dead")}

    def go(*, replay: bool = False) -> RunReport:
        return run(RunSpec(config, worker_config(bootstrap), replay_dead_letters=replay), spark)

    first, written, again = go(), table(database), go()
    database.execute("alter table t alter column name type varchar(8)")
    replay = go(replay=True)
    return Outcome(config, bad, first, written, again, replay, database, read_all(bootstrap, config[DEAD]))


class TestRefusedRecords:
    def test_the_others_are_written(self, refused: Outcome) -> None:
        assert refused.written == [(1, "a"), (3, "c")]

    def test_the_report_reconciles(self, refused: Outcome) -> None:
        bad = 2 + len(refused.bad)
        assert refused.report.records == {"read": 2 + bad, "written": 2, "filtered": 0, "dead_lettered": bad}

    def test_dead_letters_are_the_original_records(self, refused: Outcome) -> None:
        found = [(r.key and r.key.decode(), r.value and r.value.decode()) for r in refused.of_first_run()]
        assert sorted(found, key=str) == sorted([*REFUSED, *refused.bad], key=str)

    def test_headers_say_where_and_why(self, refused: Outcome) -> None:
        found = {each["offset"]: each for each in map(_headers, refused.of_first_run())}
        reasons = {b"1": b"table t", b"3": b"table t"}
        if refused.bad:
            reasons |= {b"4": b"NUL character", b"5": b"key is null"}
        assert [
            offset for offset, text in reasons.items() if text not in (found[offset]["exception.message"] or b"")
        ] == []
        assert found[b"1"]["stage"] == b"TASK_PUT"

    def test_a_second_run_finds_nothing(self, refused: Outcome) -> None:
        assert refused.again.records["read"] == 0

    def test_a_replay_writes_what_is_taken_now_and_refuses_the_rest_again(self, refused: Outcome) -> None:
        assert refused.replay.records["dead_lettered"] == 1 + len(refused.bad)
        assert [number for number, *_ in table(refused.database)] == [1, 2, 3]
        again = [record for record in refused.dead_letters if _headers(record)["offset"] == b"3"]
        assert len(again) == 2
        assert (again[0].key, again[0].value, _place(again[0])) == (again[1].key, again[1].value, _place(again[1]))


def test_without_tolerance_a_record_that_the_sink_cannot_write_is_named(
    config: dict[str, str], bootstrap: str, database: Database, run_here: Run
) -> None:
    send(bootstrap, config["topics"], [row(1, "a"), BAD[0]])
    with pytest.raises(DataError, match=rf"{config['topics']}-0@1: TASK_PUT by .*field `name` has a NUL character"):
        run_here({**config, **KEYED})
    assert table(database) == [(1, "a")]


def _headers(record: Record) -> dict[str, bytes | None]:
    """What the headers say of the error."""
    return {name.removeprefix("__connect.errors."): value for name, value in record.headers}


def _place(record: Record) -> list[tuple[str, bytes | None]]:
    """The headers that are the same whenever a record fails."""
    changing = ("offset", "exception.message", "exception.stacktrace")
    return [header for header in record.headers if not header[0].endswith(changing)]
