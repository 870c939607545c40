"""How SQL Server's columns are read and compared, by its documentation: no server has seen these terms."""

from __future__ import annotations

import re
import sqlite3
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.jdbc.databases.sqlserver.reading import SqlServer
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor, Position
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = SqlServer(JdbcUrl.parse("jdbc:sqlserver://h;databaseName=d"))
OLD = Column("at", "datetime", types.TIMESTAMP_TYPE, 23, 3)
SMALL = Column("at", "smalldatetime", types.TIMESTAMP_TYPE, 16)
NEW = Column("at", "datetime2", types.TIMESTAMP_TYPE, 27, 7)
DATE = Column("d", "date", types.DATE_TYPE, 10)
ZONED = Column("ts", "datetimeoffset", -155, 34, 7)
VERSION = Column("v", "timestamp", -2, 8)
IN_UTC = "CAST(SWITCHOFFSET(\"ts\", '+00:00') AS DATETIME2)"
MS = 1_000_000
# 2024-01-01 00:00:00.123456789
MOMENT = 1_704_067_200_123_456_789
_CAST = re.compile(r"CAST\('(\S+)' AS DATETIME\)")


@pytest.mark.parametrize(
    ("columns", "literal"),
    [
        ([NEW], "CAST('2024-01-01T00:00:00.1234567' AS DATETIME2)"),
        ([OLD], "CAST('2024-01-01T00:00:00.123' AS DATETIME)"),
        ([SMALL, OLD], "CAST('2024-01-01T00:00:00.123' AS DATETIME)"),
        ([OLD, NEW], "CAST('2024-01-01T00:00:00.1234567' AS DATETIME2)"),
        ([DATE], "CAST('2024-01-01T00:00:00.1234567' AS DATETIME2)"),
    ],
    ids=["datetime2", "datetime", "both old types", "both", "date"],
)
def test_literals_have_the_type_of_what_they_are_compared_with(columns: list[Column], literal: str) -> None:
    assert DIALECT.literal(columns, MOMENT) == literal


def test_moments_before_the_first_datetime_are_of_the_type_that_has_them() -> None:
    literals = [DIALECT.literal([OLD], moment) for moment in (-6_847_804_800_000_000_000, -6_847_804_800_000_000_001)]
    assert literals == [
        "CAST('1753-01-01T00:00:00.000' AS DATETIME)",
        "CAST('1752-12-31T23:59:59.9999999' AS DATETIME2)",
    ]


def _ticks(literal: str) -> int:
    """The value of a literal of `datetime`: it is the nearest 1/300 s."""
    match = _CAST.fullmatch(literal)
    assert match is not None
    milliseconds = (datetime.fromisoformat(match[1]) - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
    return round(milliseconds * 3 / 10)


def _shown(ticks: int) -> int:
    """Nanoseconds as which a value is read."""
    return round(ticks * 10 / 3) * MS


@given(value=st.integers(0, 600), nanoseconds=st.integers(0, 2_000 * MS))
def test_a_datetime_is_before_or_after_a_moment_as_what_is_read_of_it(value: int, nanoseconds: int) -> None:
    cursor = Cursor(timestamp="x", literal=lambda at: str(_ticks(DIALECT.literal([OLD], at))))
    position, at = Position(nanoseconds), _shown(value)
    conditions = f"{cursor.after(position)}, {cursor.until(position)}, {cursor.before(nanoseconds)}"
    with sqlite3.connect(":memory:") as db:
        found = db.execute(f"select {conditions} from (select {value} as x)").fetchone()
    assert found == (at > nanoseconds, at <= nanoseconds, at < nanoseconds)


@pytest.mark.parametrize(
    ("columns", "term"),
    [
        ([OLD], '"at"'),
        ([ZONED, NEW], f'COALESCE({IN_UTC}, "at")'),
        ([DATE], 'CAST("d" AS DATETIME2)'),
    ],
    ids=["datetime", "datetimeoffset", "date"],
)
def test_columns_are_compared_as_timestamps_without_zones(columns: list[Column], term: str) -> None:
    assert DIALECT.cursor_timestamp(columns) == term


@pytest.mark.parametrize(
    ("column", "kind", "term"),
    [
        (OLD, Kind.WALL, ('CONVERT(VARCHAR(40), "at", 121)', "string")),
        (NEW, Kind.WALL, ('CONVERT(VARCHAR(40), "at", 121)', "string")),
        (ZONED, Kind.INSTANT, (f"CONVERT(VARCHAR(40), {IN_UTC}, 121)", "string")),
        (Column("t", "time", types.TIME_TYPE, 16, 7), Kind.TIME, ('CAST("t" AS VARCHAR(40))', "string")),
        (DATE, Kind.DATE, ('"d"', None)),
        (VERSION, Kind.BYTES, ('"v"', None)),
    ],
    ids=lambda value: value.type_name if isinstance(value, Column) else "",
)
def test_kinds_and_terms(column: Column, kind: Kind, term: tuple[str, str | None]) -> None:
    assert DIALECT.kind(column, "none") is kind
    assert DIALECT.select(column, kind) == term


def test_a_cursor_is_read_as_text() -> None:
    assert DIALECT.cursor_nanoseconds('MAX("at")') == 'CONVERT(VARCHAR(40), MAX("at"), 121)'
    assert [DIALECT.nanoseconds(f"2024-01-01 00:00:00.{digits}") % 10**9 for digits in ("003", "1234567")] == [
        3 * MS,
        123_456_700,
    ]


def test_other_types_are_texts_of_any_length() -> None:
    assert DIALECT.text(Column("x", "sql_variant", -156)) == 'CAST("x" AS NVARCHAR(MAX))'
