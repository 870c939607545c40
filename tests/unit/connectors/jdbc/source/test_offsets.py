"""Offsets of the JDBC source: the JSON of Connect, and positions in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor, Position
from airflow_kconnect.connectors.jdbc.source.offsets import (
    offset_of,
    offset_problems,
    partitions_of,
    position_of,
    settled_wall,
    to_instant,
    to_wall,
)
from airflow_kconnect.connectors.jdbc.source.tables import Table, TableName
from airflow_kconnect.connectors.jdbc.source.windows import committable

_BERLIN = ZoneInfo("Europe/Berlin")
_INT64 = st.integers(-(2**63), 2**63 - 1)
# Years 1 to 9999.
_NANOS = st.integers(-62_135_596_800_000_000_000, 253_402_300_799_999_999_999)


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (Position(id=1234), {"incrementing": 1234}),
        (Position(1700000000123456000), {"timestamp": 1700000000123, "timestamp_nanos": 123456000}),
        (
            Position(1700000000123456789, 7),
            {"incrementing": 7, "timestamp": 1700000000123, "timestamp_nanos": 123456789},
        ),
        (Position(-1), {"timestamp": -1, "timestamp_nanos": 999999999}),
    ],
)
def test_offset_is_that_of_connect(position: Position, offset: dict[str, Any]) -> None:
    assert offset_of(position, None) == offset


@given(st.one_of(st.none(), _NANOS), _INT64)
def test_every_position_survives_its_offset(timestamp: int | None, number: int) -> None:
    position = Position(timestamp, number)
    assert position_of("t", offset_of(position, None), None) == position


@given(st.one_of(st.none(), _NANOS), _INT64)
def test_every_position_survives_its_progress(timestamp: int | None, number: int) -> None:
    position = Position(timestamp, number)
    assert Position.of(position.progress()) == position


def test_timestamp_without_nanoseconds_is_milliseconds() -> None:
    assert position_of("t", {"timestamp": 1700000000123}, None) == Position(1700000000123000000)


@pytest.mark.parametrize("offset", [{"incrementing": "7"}, {"timestamp": 1.5}, {"timestamp": True}])
def test_offset_that_makes_no_sense_names_table_and_member(offset: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"public\.t is .*not a whole number"):
        position_of("public.t", offset, None)


@given(st.integers(0, 4_000_000_000))
def test_instants_survive_the_wall_clock_except_in_the_hour_that_comes_twice(seconds: int) -> None:
    instant = seconds * 1_000_000_000 + 5
    again = to_instant(to_wall(instant, _BERLIN), _BERLIN)
    assert instant - again in (0, 3600 * 1_000_000_000)


_ZONES = st.sampled_from(
    [_BERLIN, *(ZoneInfo(name) for name in ("America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata"))]
)


def _nanoseconds(text: str) -> int:
    return int((datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds()) * 1_000_000_000


@given(st.integers(0, 4_000_000_000), _ZONES)
def test_wall_clock_never_goes_forward(seconds: int, zone: ZoneInfo) -> None:
    """Else the rows in between would never be read."""
    wall = seconds * 1_000_000_000
    there_and_back = to_wall(to_instant(wall, zone), zone)
    assert wall - 24 * 3600 * 1_000_000_000 <= there_and_back <= wall


@pytest.mark.parametrize("zone", [_BERLIN, ZoneInfo("Pacific/Apia")])
def test_times_that_never_come_are_reported_as_earlier_ones(zone: ZoneInfo) -> None:
    """The night of the last Sunday in March; the day on which Samoa changed sides."""
    wall = {"Europe/Berlin": "2026-03-29T02:30", "Pacific/Apia": "2011-12-30T12:00"}[zone.key]
    moment = _nanoseconds(wall)
    source = Source(Table(None, ()), "t", ({},), "t", (), (), Cursor("at", "id"), zone=zone, is_wall=True)
    position = Position(moment, 7)
    committed = committable(position, source)
    assert (committed.timestamp or 0) < moment
    assert position_of("t", offset_of(committed, zone), zone) == committed


@given(st.integers(0, 4_000_000_000), st.integers(0, 4 * 3600), _ZONES)
def test_no_clock_shows_an_earlier_time_than_the_settled_one_later_on(seconds: int, later: int, zone: ZoneInfo) -> None:
    """So that all rows before it are there to be read."""
    instant = seconds * 1_000_000_000
    assert settled_wall(instant, zone) <= to_wall(instant + later * 1_000_000_000, zone)


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2026-10-24T23:59:59", "2026-10-25T01:59:59"),
        ("2026-10-25T00:20:00", "2026-10-25T01:20:00"),
        ("2026-10-25T00:59:59", "2026-10-25T01:59:59"),
        ("2026-10-25T01:20:00", "2026-10-25T02:20:00"),
        ("2026-10-25T02:00:00", "2026-10-25T03:00:00"),
        ("2026-03-29T00:59:59", "2026-03-29T01:59:59"),
        ("2026-03-29T01:00:00", "2026-03-29T03:00:00"),
    ],
)
def test_only_in_the_first_of_two_equal_hours_the_settled_time_is_earlier(instant: str, expected: str) -> None:
    assert settled_wall(_nanoseconds(instant), _BERLIN) == _nanoseconds(expected)


@pytest.mark.parametrize(
    ("table", "catalog", "expected"),
    [
        (
            TableName(None, "public", "orders"),
            "db",
            [
                {"protocol": "1", "table": "public.orders"},
                {"protocol": "1", "table": "db.public.orders"},
                {"table": "orders"},
            ],
        ),
        (TableName("db", None, "orders"), None, [{"protocol": "1", "table": "db.orders"}, {"table": "orders"}]),
        (TableName(None, None, "orders"), None, [{"protocol": "1", "table": "orders"}, {"table": "orders"}]),
    ],
    ids=["PostgreSQL", "MySQL", "SQLite"],
)
def test_partitions_are_those_of_both_protocols(table: TableName, catalog: str | None, expected: list[Any]) -> None:
    assert list(partitions_of(table, catalog)) == expected


class TestOffsetProblems:
    @pytest.mark.parametrize("partition", [{"protocol": "1", "table": "s.t"}, {"table": "t"}, {"query": "query"}])
    def test_what_connect_writes_is_right(self, partition: dict[str, str]) -> None:
        assert offset_problems(partition, {"incrementing": 5, "timestamp": 1, "timestamp_nanos": 2}) == []

    @pytest.mark.parametrize(
        ("partition", "offset", "text"),
        [
            ({"tabel": "t"}, {"incrementing": 5}, "is not a source partition of JDBC"),  # codespell:ignore
            ({"table": "t"}, {"position": 5}, "has neither `incrementing` nor `timestamp`"),
            ({"table": "t"}, {"timestamp": "2026-01-01"}, "`timestamp` is not a whole number"),
        ],
    )
    def test_what_is_wrong(self, partition: dict[str, Any], offset: dict[str, Any], text: str) -> None:
        (problem,) = offset_problems(partition, offset)
        assert text in problem
