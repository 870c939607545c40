"""Runs of the JDBC sink that are killed, overtaken, or lose their database: each record is there just once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.runs.events import EXIT_FENCED, EXIT_RETRIABLE
from tests.integration.runtime.conftest import STRING, Jobs, Run
from tests.support import unique
from tests.support.databases.jdbc_databases import H2Database
from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database
from tests.support.kafka import produce, read_all

pytestmark = pytest.mark.spark_submit

_RECORDS = 30_000
JSON = "org.apache.kafka.connect.json.JsonConverter"
_ENVELOPE = (
    '{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"record_value"}],'
    '"optional":false},"payload":{"record_value":"record-{}"}}'
)

# Where the run is killed, whether its rows were committed by then, and which way they go.
_KILL_POINTS = [
    ("mid-write", False, "sink_without_jvm"),
    *(
        pytest.param(*case, "sink", marks=pytest.mark.exhaustive)
        for case in (("mid-write", False), ("after-last-write", True), ("after-final-commit", True))
    ),
]


@pytest.fixture
def database(postgres: PostgresServer) -> Database:
    """A database with a table that takes every row, also one that was there before."""
    found = postgres.create_database()
    found.execute("CREATE TABLE t (record_value text)")
    return found


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, database: Database) -> dict[str, str]:
    """Plain inserts, without a primary key, of numbered records of two partitions."""
    return _sink(topic, bootstrap, database, "record-{}", STRING)


@pytest.fixture
def sink_without_jvm(topic: Callable[..., str], bootstrap: str, database: Database) -> dict[str, str]:
    """The same, of records that the task which reads them writes."""
    return _sink(topic, bootstrap, database, _ENVELOPE, JSON)


def _sink(
    topic: Callable[..., str], bootstrap: str, database: Database, message: str, converter: str
) -> dict[str, str]:
    name = topic(partitions=2)
    produce(bootstrap, name, [message.replace("{}", str(n)) for n in range(_RECORDS)])
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": name,
        "table.name.format": "t",
        "value.converter": converter,
        "connection.attempts": "1",
        **database.config,
    }


def counts(database: Database) -> tuple[Any, ...]:
    """Rows, and different rows."""
    return database.execute("SELECT count(*), count(DISTINCT record_value) FROM t")[0]


@pytest.mark.parametrize(("point", "committed", "way"), _KILL_POINTS)
def test_killed_run_leaves_every_row_once(
    point: str,
    committed: bool,
    way: str,
    request: pytest.FixtureRequest,
    database: Database,
    bootstrap: str,
    run_here: Run,
    jobs: Jobs,
) -> None:
    sink: dict[str, str] = request.getfixturevalue(way)
    jobs.killed_at(point, sink)
    assert (counts(database) == (_RECORDS, _RECORDS)) is committed
    message = "record-{}" if way == "sink" else _ENVELOPE
    produce(bootstrap, sink["topics"], [message.replace("{}", str(n)) for n in range(_RECORDS, _RECORDS + 50)])
    run_here(sink)
    assert counts(database) == (_RECORDS + 50, _RECORDS + 50)


@pytest.mark.exhaustive
def test_killed_run_into_a_database_of_jdbc_leaves_every_row_once(
    topic: Callable[..., str], bootstrap: str, run_here: Run, tmp_path: Path, jobs: Jobs
) -> None:
    database = H2Database.create(tmp_path)
    database.execute("CREATE TABLE t (record_value varchar)")
    sink = _sink(topic, bootstrap, database, "record-{}", STRING)
    jobs.killed_at("mid-write", sink)
    assert counts(database) != (_RECORDS, _RECORDS)
    report = run_here(sink)
    assert (report.guarantee, counts(database)) == ("exactly_once", (_RECORDS, _RECORDS))
    assert run_here(sink).records["read"] == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", ["mid-write", "after-last-write"])
def test_killed_run_loses_no_record_that_the_database_refuses(
    point: str, sink_without_jvm: dict[str, str], database: Database, bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    database.execute("ALTER TABLE t ADD CHECK (record_value NOT LIKE '%777')")
    dead = unique("dead")
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    config = {**sink_without_jvm, **tolerant}
    jobs.killed_at(point, config)
    run_here(config)
    bad = {n for n in range(_RECORDS) if str(n).endswith("777")}
    assert counts(database) == (_RECORDS - len(bad), _RECORDS - len(bad))
    assert {record.value for record in read_all(bootstrap, dead)} == {
        _ENVELOPE.replace("{}", str(n)).encode() for n in bad
    }


def test_of_two_runs_the_older_is_fenced(
    sink_without_jvm: dict[str, str], database: Database, run_here: Run, jobs: Jobs
) -> None:
    no_jvm = {"spark.driver.extraJavaOptions": "-Xss1k"}  # none starts with it
    job = jobs.start(sink_without_jvm, failpoint="mid-write", conf=no_jvm)
    job.wait_for_failpoint()
    run_here(sink_without_jvm)
    assert counts(database) == (_RECORDS, _RECORDS)
    job.reached.unlink()
    assert job.wait() == EXIT_FENCED
    assert counts(database) == (_RECORDS, _RECORDS)


@pytest.mark.parametrize("way", ["sink_without_jvm", pytest.param("sink", marks=pytest.mark.exhaustive)])
def test_database_that_restarts_is_a_reason_to_try_again(
    way: str,
    request: pytest.FixtureRequest,
    database: Database,
    postgres: PostgresServer,
    run_here: Run,
    jobs: Jobs,
) -> None:
    sink: dict[str, str] = request.getfixturevalue(way)
    job = jobs.start(sink, failpoint="mid-write")
    job.wait_for_failpoint()
    postgres.restart()
    job.reached.unlink()
    assert job.wait() == EXIT_RETRIABLE
    run_here(sink)
    assert counts(database) == (_RECORDS, _RECORDS)
