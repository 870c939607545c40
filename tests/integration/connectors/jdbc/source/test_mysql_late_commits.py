"""Transactions of InnoDB that commit after later ones: nothing of them is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from airflow_kconnect.runs.warnings import Kind, kind_of
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases.mariadb import MariaDatabase, MariaServer

_SHORT = {"late.commits.wait.ms": "200", "table.whitelist": "t"}
_TIMESTAMP = {"mode": "timestamp", "timestamp.column.name": "at", **_SHORT}

Begin = Callable[..., Any]


@pytest.fixture
def db(mariadb: MariaServer) -> MariaDatabase:
    database = mariadb.create_database()
    database.execute("create table t (id bigint auto_increment primary key, at datetime(6) not null default now(6))")
    database.execute("create table other (id int primary key)")
    return database


@pytest.fixture
def begin(db: MariaDatabase) -> Iterator[Begin]:
    """Opens a transaction with some SQL in it; `commit()` ends it."""
    opened: list[Any] = []

    def start(*statements: str) -> Any:
        connection = db.connect()
        connection.autocommit(False)
        opened.append(connection)
        for statement in statements:
            connection.cursor().execute(statement)
        return connection

    yield start
    for connection in opened:
        if connection.open:
            connection.close()


def _ids(found: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in found)


def test_table_is_left_alone_while_a_lower_number_can_still_be_committed(
    db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    late = begin("insert into t values ()")
    db.execute("insert into t values ()")
    config = jdbc_source(db, **_SHORT)
    first = run_here(config)
    late.commit()
    second = run_here(config)
    assert (first.records["read"], first.incomplete, second.records["read"]) == (0, ["held_back"], 2)
    assert "open since" in first.notes["left_for_next_run"][f"{db.name}.t"]
    assert {kind_of(warning) for warning in first.warnings} == {Kind.WAITING}
    assert _ids(rows(config, "t")) == [1, 2]


def test_short_transactions_are_waited_for_and_readers_are_not(
    db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
) -> None:
    begin("select * from other")
    late = begin("insert into t values ()")
    db.execute("insert into t values ()")
    timer = threading.Timer(2.0, late.commit)
    timer.start()
    report = run_here(jdbc_source(db, **{**_SHORT, "late.commits.wait.ms": "60000"}))
    timer.join()
    assert (report.records["read"], report.complete, report.notes) == (2, True, {})


def test_no_row_of_a_transaction_in_the_same_unit_is_missed(
    db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    """One that commits, one that begins after it and stays open; runs before and after that one's end."""
    kinds = {"s": "datetime", "ts": "timestamp", "ms": "datetime(3)"}
    for table, kind in kinds.items():
        digits = kind.removeprefix("datetime") if "(" in kind else ""
        db.execute(f"create table {table} (id int primary key, at {kind} not null default now{digits or '()'})")
    config = jdbc_source(db, **{**_TIMESTAMP, "table.whitelist": ",".join(kinds)})
    for table in kinds:
        db.execute(f"insert into {table} (id) values (0)")
    late = begin(*(f"insert into {table} (id) values (1)" for table in kinds))
    run_here(config)
    late.commit()
    run_here(config)
    time.sleep(1.1)
    run_here(config)
    assert {table: _ids(rows(config, table)) for table in kinds} == {table: [0, 1] for table in kinds}


def test_statement_that_waits_for_a_lock_has_its_time_already(
    db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    """It has no transaction yet that InnoDB could show."""
    db.execute("insert into other values (1)")
    lock, config = begin("lock tables other write"), jdbc_source(db, **_TIMESTAMP)
    insert = "insert into t (id, at) select 1, now(6) from other"
    late = threading.Thread(target=db.execute, args=(insert,))
    late.start()
    while not db.execute("select 1 from information_schema.processlist where info = %s and time > 1", (insert,)):
        time.sleep(0.1)
    db.execute("insert into t (id) values (2)")
    time.sleep(2.0)
    run_here(config)
    lock.cursor().execute("unlock tables")
    late.join()
    run_here(config)
    time.sleep(2.0)
    run_here(config)
    assert _ids(rows(config, "t")) == [1, 2]


def test_prepared_transaction_without_a_session_is_waited_for(
    db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
) -> None:
    name = unique("xa")
    begin(f"xa start '{name}'", "insert into t values ()", f"xa end '{name}'", f"xa prepare '{name}'").close()
    db.execute("insert into t values ()")
    report = run_here(jdbc_source(db, **_TIMESTAMP))
    db.execute(f"xa commit '{name}'")
    assert report.records["read"] == 0
    assert report.notes["left_for_next_run"][f"{db.name}.t"].startswith("prepared transaction")


@pytest.mark.parametrize("mode", [_SHORT, pytest.param(_TIMESTAMP, marks=pytest.mark.exhaustive)])
def test_user_who_may_not_see_transactions_reads_what_is_there_with_a_warning(
    mode: dict[str, str], db: MariaDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
) -> None:
    user = unique("reader").replace("-", "_")
    db.execute(f"create user {user}@'%' identified by 'pw'")
    db.execute(f"grant select on {db.name}.* to {user}@'%'")
    begin("insert into t values ()")
    db.execute("insert into t values (null, now(6) - interval 1 minute)")
    report = run_here(jdbc_source(db, **mode, **{"connection.user": user, "connection.password": "pw"}))
    (warning,) = report.warnings
    assert (report.records["read"], kind_of(warning), "PROCESS" in warning) == (1, Kind.LOST, True)


def test_servers_that_share_the_numbers_are_warned_of(
    db: MariaDatabase, jdbc_source: SourceConfig, run_here: Run
) -> None:
    db.execute("set global auto_increment_increment = 2")
    try:
        report = run_here(jdbc_source(db, **_SHORT))
    finally:
        db.execute("set global auto_increment_increment = 1")
    (warning,) = report.warnings
    assert (kind_of(warning), "numbered by several servers" in warning) == (Kind.LOST, True)
