"""Cursors of DuckDB, by DuckDB itself."""

from __future__ import annotations

import duckdb
import pytest

from airflow_kconnect.connectors.jdbc.databases.duckdb.reading import DuckDb
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = DuckDb(JdbcUrl.parse("jdbc:duckdb:/a.db"))


@pytest.mark.parametrize("fraction", ["123456000", "123456200", "123456789"])
@pytest.mark.parametrize("year", ["1960", "2024"])
def test_a_row_of_nanoseconds_is_at_its_own_cursor(year: str, fraction: str) -> None:
    columns = [Column("moment", "TIMESTAMP_NS", 3)]
    term = DIALECT.cursor_timestamp(columns)
    with duckdb.connect() as db:
        db.execute("create table t (moment timestamp_ns)")
        db.execute(f"insert into t values ('{year}-01-01 00:00:00.{fraction}')")
        (micros,) = db.execute(f"select {DIALECT.cursor_micros(columns)} from t").fetchall()[0]
        at = DIALECT.literal(columns, micros * 1000)
        (is_equal,) = db.execute(f"select {term} = {at} from t").fetchall()[0]
    assert is_equal
