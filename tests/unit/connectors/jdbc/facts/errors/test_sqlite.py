"""What SQLite's errors mean: whether a retry can help, and whether the others of a batch can be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, RefusedError, RetriableError
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.sqlite import by_result
from airflow_kconnect.connectors.jdbc.sink.target import Target
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SQLITE_BUSY_SNAPSHOT", Condition.PASSING),
        ("[SQLITE_BUSY] The database file is locked (database is locked)", Condition.PASSING),
        ("SQLITE_CANTOPEN", Condition.DATABASE),
        ("SQLITE_CONSTRAINT_CHECK", Condition.ROW),
        ("SQLITE_ERROR", None),
        ("", None),
    ],
)
def test_results(text: str, expected: Condition | None) -> None:
    assert by_result(text) is expected


class TestTarget:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "x.db"

    @pytest.fixture
    def target(self, path: Path) -> Target:
        return ConfluentJdbcSink({"name": "sink", "connection.url": f"jdbc:sqlite:{path}"})._target

    @pytest.fixture
    def connection(self, path: Path) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as opened:
            opened.execute("create table t (id integer primary key, name text check (length(name) < 3))")
            yield opened

    def test_waiting_for_another_writer_passes(
        self, target: Target, connection: sqlite3.Connection, path: Path
    ) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("begin immediate")
            with pytest.raises(RetriableError, match="locked"), target.errors("writing"):
                connection.execute("insert into t values (1, 'a')")

    def test_what_is_not_a_database_is_the_users(self, target: Target, path: Path) -> None:
        path.write_bytes(b"no database" * 100)
        with (
            closing(sqlite3.connect(path)) as connection,
            pytest.raises(ConfigError, match="not a database"),
            target.errors("writing"),
        ):
            connection.execute("select * from t")

    @pytest.mark.parametrize("row", [(2**70, "a"), (1, "\ud800"), (1, "too long"), ("text", "a")])
    def test_a_row_that_cannot_be_written_is_refused(
        self, row: tuple[object, str], target: Target, connection: sqlite3.Connection
    ) -> None:
        with pytest.raises(RefusedError, match="connector sink, writing"), target.errors("writing"):
            connection.execute("insert into t values (?, ?)", row)

    def test_a_missing_table_is_not_the_fault_of_a_row(self, target: Target, connection: sqlite3.Connection) -> None:
        with pytest.raises(DataError) as raised, target.errors("writing"):
            connection.execute("insert into missing values (1)")
        assert not isinstance(raised.value, RefusedError)
