"""Cursors of SQLite, by SQLite itself."""

from __future__ import annotations

import sqlite3

import pytest

from airflow_kconnect.connectors.jdbc.databases.sqlite.reading import Sqlite
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = Sqlite(JdbcUrl.parse("jdbc:sqlite:/a.db"))
COLUMNS = [Column("changed", "timestamp", 2), Column("made", "timestamp", 2)]


@pytest.mark.parametrize(
    ("changed", "made", "is_unreadable"),
    [
        ("2024-01-01 00:00:00.5", None, 0),
        (1704067200000, 2440587.5, 0),
        (None, None, 0),
        ("27.11.2026", None, 1),
        ("2024-01-01", "tomorrow", 1),
    ],
)
def test_values_that_are_no_timestamps_are_found(changed: object, made: object, is_unreadable: int) -> None:
    with sqlite3.connect(":memory:") as db:
        db.execute("create table t (changed timestamp, made timestamp)")
        db.execute("insert into t values (?, ?)", (changed, made))
        found = db.execute(f"select count(*) from t where {DIALECT.unreadable(COLUMNS)}").fetchone()
    assert found == (is_unreadable,)
