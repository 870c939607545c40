"""A JDBC source is killed, or its database is: afterwards nothing is missing and nothing is doubled."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import EXIT_RETRIABLE
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.spark.jobs import kill_job_at, start_job

pytestmark = pytest.mark.spark_submit

_ROWS = 40_000
# Six splits of several Arrow batches each, each batch a transaction: many places to be killed at.
_SMALL = {"split.rows": "8000", "transaction.boundary.interval.ms": "1"}
_BATCHES = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
_INCREMENTING = {"mode": "incrementing"}
_TIMESTAMP = {"mode": "timestamp", "timestamp.column.name": "at"}
_KILL_POINTS = [
    ("after-reading-offsets", "block", 0.0, _INCREMENTING),
    ("mid-produce", "touch", 0.3, _INCREMENTING),
    ("mid-produce", "touch", 1.0, _TIMESTAMP),
    ("during-commit", "touch", 0.0, _TIMESTAMP),
    ("before-final-commit", "block", 0.0, _INCREMENTING),
    ("during-final-commit", "touch", 0.0, _TIMESTAMP),
]
_ALWAYS = (_KILL_POINTS[1],)
_RANDOM = random.Random(7)
_KILL_POINTS += [("mid-produce", "touch", _RANDOM.uniform(0, 2), mode) for mode in (_INCREMENTING, _TIMESTAMP) * 7]


def _fill(db: PostgresDatabase, rows: int) -> None:
    """Rows with a hundred equal timestamps each, long ago."""
    db.execute(
        "insert into t (at, what) select '2020-01-01 00:00:00+00'::timestamptz + (n / 100) * interval '1 s',"
        f" md5(n::text) from generate_series((select count(*) from t), (select count(*) from t) + {rows - 1}) n"
    )


def _checksums(db: PostgresDatabase, found: list[dict[str, object]]) -> tuple[tuple[int, str], tuple[int, str]]:
    """Count and checksum of the table, and of the topic."""
    ((count, expected),) = db.execute("select count(*), md5(string_agg(id || what, ',' order by id)) from t")
    texts = sorted((row["id"], f"{row['id']}{row['what']}") for row in found)
    return (count, expected), (len(texts), hashlib.md5(",".join(text for _, text in texts).encode()).hexdigest())


@pytest.fixture
def filled(db: PostgresDatabase) -> PostgresDatabase:
    db.execute("create table t (id bigserial primary key, at timestamptz not null, what text)")
    _fill(db, _ROWS)
    return db


@pytest.mark.parametrize(
    ("point", "action", "later_s", "mode"),
    [
        pytest.param(
            *found,
            id=f"{found[0]}+{found[2]:.2f}-{found[3]['mode']}",
            marks=() if found in _ALWAYS else pytest.mark.exhaustive,
        )
        for found in _KILL_POINTS
    ],
)
def test_killed_load_loses_and_doubles_nothing(
    point: str,
    action: str,
    later_s: float,
    mode: dict[str, str],
    filled: PostgresDatabase,
    jdbc_source: SourceConfig,
    worker_props: dict[str, str],
    run_here: Run,
    rows: Rows,
    tmp_path: Path,
) -> None:
    config = jdbc_source(filled, **_SMALL, **mode)
    kill_job_at(point, config, worker_props, tmp_path, later_s=later_s, action=action, conf=_BATCHES)
    _fill(filled, 200)
    run_here(config)
    run_here(config)
    table, topic = _checksums(filled, rows(config, "t"))
    assert topic == table


@pytest.mark.exhaustive
def test_restarted_database_is_tried_again_and_the_next_run_is_exact(
    filled: PostgresDatabase,
    postgres: PostgresServer,
    jdbc_source: SourceConfig,
    worker_props: dict[str, str],
    run_here: Run,
    rows: Rows,
    tmp_path: Path,
) -> None:
    config = jdbc_source(filled, **_SMALL)
    job = start_job(config, worker_props, tmp_path, failpoint="mid-produce", conf=_BATCHES)
    job.wait_for_failpoint()
    postgres.stop()
    postgres.start()
    job.reached.unlink()
    assert job.wait() == EXIT_RETRIABLE
    assert "PSQLException" in job.event("error")["message"]
    assert filled.password is not None and filled.password not in job.text()
    report = run_here(config)
    assert report.resumed_plan
    table, topic = _checksums(filled, rows(config, "t"))
    assert topic == table
