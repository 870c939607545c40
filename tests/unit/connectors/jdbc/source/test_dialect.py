"""What the reader of any database makes of times, as their drivers say them."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect, iso
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = Dialect(JdbcUrl.parse("jdbc:any://h/d"))
WALL = Column("at", "TIMESTAMP", types.TIMESTAMP_TYPE)
ZONED = Column("ts", "TIMESTAMP WITH TIME ZONE", types.TIMESTAMP_ZONED)
DATE = Column("d", "DATE", types.DATE_TYPE)
PICOSECONDS = Column("p", "TIMESTAMP", types.TIMESTAMP_TYPE, scale=12)
IN_UTC = "CAST(\"ts\" AT TIME ZONE INTERVAL '0:00' HOUR TO MINUTE AS TIMESTAMP(9))"
NOON = 43_200_000_000_000


class Clock:
    """A database whose driver says the time so."""

    label = "connector c: jdbc:any://h/d"

    def __init__(self, text: str) -> None:
        self._text = text

    def row(self, sql: str) -> tuple[str]:
        return (self._text,)


def _now(text: str, zone: ZoneInfo | None = None) -> int:
    clock: Any = Clock(text)
    return DIALECT.now(clock, zone)


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01T12:00",
        "1970-01-01 12:00:00Z",
        "1970-01-01 12:00:00.000 UTC",
        "1970-01-01 14:00:00.0+02",
        "1970-01-01 14:00:00.0 +2:00",
        "1970-01-01 08:30:00.000000000-03:30",
        "1970-01-01 13:00:00.0 Europe/Berlin",
    ],
)
def test_a_time_is_understood_with_its_zone_and_without(text: str) -> None:
    assert DIALECT.nanoseconds(text) == _now(text) == NOON


def test_a_clock_without_zone_is_in_that_of_the_database() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert [_now(text, berlin) for text in ("1970-01-01 13:00:00", "1970-01-01 12:00:00+00")] == [NOON, NOON]


@pytest.mark.parametrize("text", ["", "27.11.2026 12:00", "1970-01-01 12:00 Nowhere", "1970-01-01 12:00+99:00"])
def test_another_text_is_an_error_that_says_what_to_do(text: str) -> None:
    with pytest.raises(DataError, match=r"connector c: jdbc:any://h/d: its clock says '.*use `mode=incrementing`"):
        _now(text)
    with pytest.raises(DataError, match=r"jdbc:any://h/d: a timestamp column says '.*set a `query` that casts it"):
        DIALECT.nanoseconds(text)


@pytest.mark.parametrize(
    ("columns", "term"),
    [
        ([WALL], '"at"'),
        ([DATE], 'CAST("d" AS TIMESTAMP)'),
        ([WALL, DATE], 'COALESCE("at", CAST("d" AS TIMESTAMP))'),
        ([ZONED, WALL], f'COALESCE({IN_UTC}, "at")'),
        ([PICOSECONDS], 'CAST("p" AS TIMESTAMP(9))'),
    ],
    ids=lambda value: " ".join(column.name for column in value) if isinstance(value, list) else "",
)
def test_columns_are_compared_as_timestamps_without_zones(columns: list[Column], term: str) -> None:
    assert DIALECT.cursor_timestamp(columns) == term


def test_a_time_with_a_fraction_and_a_timestamp_with_a_zone_are_read_as_texts() -> None:
    read = [
        DIALECT.select(Column("t", "TIME", types.TIME_TYPE, scale=3), Kind.TIME),
        DIALECT.select(Column("t", "TIME", types.TIME_TYPE), Kind.TIME),
        DIALECT.select(ZONED, Kind.INSTANT),
    ]
    assert read == [
        ('CAST("t" AS VARCHAR(40))', "string"),
        ('"t"', "timestamp_ntz"),
        ('CAST("ts" AS VARCHAR(40))', "string"),
    ]


def test_timestamps_and_times_of_derby_are_texts_made_where_its_zone_is_known() -> None:
    derby = dialect_of(JdbcUrl.parse("jdbc:derby://h/d"))
    assert derby.select(WALL, Kind.WALL) == ('CAST("at" AS VARCHAR(40))', "string")
    assert derby.cursor_nanoseconds('MAX("at")') == 'CAST(MAX("at") AS VARCHAR(40))'


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (-62_135_596_800_000_000_000, "0001-01-01 00:00:00.000000"),
        (-1, "1969-12-31 23:59:59.999999"),
        (253_402_300_799_999_999_999, "9999-12-31 23:59:59.999999"),
    ],
)
def test_the_text_of_a_moment_has_a_year_of_four_digits(moment: int, text: str) -> None:
    assert iso(moment, 6) == text
