"""The JDBC source on a PostgreSQL replica: it reads the same rows, but cannot know which are still to come."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase, PostgresReplica, PostgresServer

ROWS = 5_000


@pytest.fixture(scope="module")
def replica(postgres: PostgresServer) -> Iterator[PostgresReplica]:
    server = PostgresReplica(postgres)
    yield server
    server.remove()


@pytest.fixture
def copied(db: PostgresDatabase, replica: PostgresReplica) -> PostgresDatabase:
    """The replica of a database with a table of numbers."""
    db.execute(f"create table t (id int primary key); insert into t select generate_series(1, {ROWS})")
    (wanted,) = db.execute("select pg_current_wal_lsn()::text")
    for _ in range(300):
        if replica.execute("select pg_last_wal_replay_lsn() >= %s::pg_lsn", wanted) == [(True,)]:
            return replica.of(db)
        time.sleep(0.1)
    raise TimeoutError("the replica does not follow")


@pytest.mark.parametrize("mode", ["incrementing", pytest.param("bulk", marks=pytest.mark.exhaustive)])
def test_splits_share_a_snapshot_and_late_commits_are_warned_of(
    copied: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows, mode: str
) -> None:
    config = jdbc_source(copied, mode=mode, **{"split.rows": "1000", "incrementing.column.name": "id"})
    report = run_here(config)
    assert report.splits > 3
    assert mode == "bulk" or "the database is a replica" in str(report.warnings)
    assert sorted(row["id"] for row in rows(config, "t")) == list(range(1, ROWS + 1))
