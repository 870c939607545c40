"""Tables that begin to number their rows again below the offset of the source."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runs.warnings import Kind, kind_of
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase
from tests.support.databases.servers import Database

_COLUMNS = {
    "postgresql": "id bigint generated always as identity primary key",
    "mariadb": "id bigint auto_increment primary key comment 'AUTO_INCREMENT=5'",
    "sqlite": "id integer primary key autoincrement",
}
_EMPTIED = {
    "postgresql": ("truncate t restart identity",),
    "mariadb": ("truncate table t",),
    "sqlite": ("delete from t", "delete from sqlite_sequence"),
}


def _kind(db: Database) -> str:
    return db.url.split(":")[1]


def _create(db: Database) -> None:
    columns = _COLUMNS.get(_kind(db)) or pytest.skip("the source does not know how this database numbers rows")
    db.execute(f"create table t ({columns}, x int)")


def _insert(db: Database, rows: int) -> None:
    db.execute(f"insert into t (x) values {', '.join(['(1)'] * rows)}")


def _ids(found: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in found]


@pytest.mark.every_database
def test_table_that_was_emptied_and_filled_again_fails_the_run_or_is_read_from_its_beginning(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, 10)
    config = jdbc_source(each_database, **{"table.whitelist": "t"})
    run_here(config)
    for statement in _EMPTIED[_kind(each_database)]:
        each_database.execute(statement)
    _insert(each_database, 6)
    with pytest.raises(DataError, match="its next row the number 7, and was read up to 10"):
        run_here(config)
    report = run_here({**config, "on.renumbered": "restart"})
    assert _ids(rows(config, "t")) == [*range(1, 11), *range(1, 7)]
    assert [kind_of(warning) for warning in report.warnings] == [Kind.SOURCE]


def test_deleted_rows_are_no_new_numbering(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, 10)
    config = jdbc_source(each_database, **{"table.whitelist": "t"})
    run_here(config)
    each_database.execute("delete from t where id > 5")
    between = run_here(config)
    _insert(each_database, 1)
    run_here(config)
    assert (between.notes, _ids(rows(config, "t"))) == ({}, [*range(1, 12)])


def test_restart_counts_for_a_table_that_is_empty_at_that_time(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    """Else it had passed the old offset by the time it is looked at again."""
    _create(db)
    _insert(db, 10)
    config = jdbc_source(db, **{"on.renumbered": "restart"})
    run_here(config)
    db.execute("truncate t restart identity")
    emptied = run_here(config)
    _insert(db, 12)
    run_here(config)
    assert (emptied.offsets[0]["offset"], _ids(rows(config, "t"))) == (
        {"incrementing": -1},
        [*range(1, 11), *range(1, 13)],
    )


def test_numbers_that_the_database_does_not_give_are_warned_of(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
) -> None:
    db.execute("create table t (id bigint primary key); insert into t select generate_series(1, 10)")
    config = jdbc_source(db, **{"incrementing.column.name": "id"})
    run_here(config)
    db.execute("delete from t where id = 10")
    (warning,) = run_here(config).warnings
    assert (kind_of(warning), "is 9, and it was read up to 10" in warning) == (Kind.SOURCE, True)
    assert run_here({**config, "on.renumbered": "ignore"}).notes == {}
