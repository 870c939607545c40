"""How HSQLDB's columns are read: terms whose values do not depend on the zone of a JVM."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.databases.hsqldb.reading import Hsqldb
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = Hsqldb(JdbcUrl.parse("jdbc:hsqldb:hsql://h/d"))
WALL = Column("at", "TIMESTAMP", types.TIMESTAMP_TYPE, scale=9)
ZONED = Column("ts", "TIMESTAMP WITH TIME ZONE", types.TIMESTAMP_ZONED, scale=6)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Column("u", "UUID", -2, 16), Kind.STRING),
        (Column("y", "BINARY", -2, 16), Kind.BYTES),
        (Column("b", "BIT", types.BIT, 1), Kind.INT8),
        (Column("b", "BIT", types.BIT, 3), None),
        (Column("b", "BIT VARYING", types.BIT, 1), None),
        (Column("x", "TIME WITH TIME ZONE", 2013), None),
        (ZONED, Kind.INSTANT),
    ],
    ids=str,
)
def test_kinds(column: Column, kind: Kind | None) -> None:
    assert DIALECT.kind(column, "none") is kind


@pytest.mark.parametrize(
    ("column", "kind", "term"),
    [
        (WALL, Kind.WALL, ('CAST("at" AS VARCHAR(40))', "string")),
        (ZONED, Kind.INSTANT, ('CAST("ts" AS VARCHAR(40))', "string")),
        (Column("u", "UUID", -2, 16), Kind.STRING, ('CAST("u" AS VARCHAR(40))', None)),
        (Column("s", "VARCHAR", types.VARCHAR, 5), Kind.STRING, ('"s"', None)),
    ],
    ids=lambda value: value.name if isinstance(value, Column) else "",
)
def test_terms(column: Column, kind: Kind, term: tuple[str, str | None]) -> None:
    assert DIALECT.select(column, kind) == term


def test_timestamps_are_asked_for_as_texts() -> None:
    assert DIALECT.cursor_nanoseconds('MAX("at")') == 'CAST(MAX("at") AS VARCHAR(40))'
    assert DIALECT.nanoseconds("1969-12-31 23:59:59.123456789") == -876_543_211
