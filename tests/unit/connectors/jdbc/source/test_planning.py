"""Plans of splits over real rows in SQLite: balanced, complete, bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.source import PlanContext, Split
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor, Position
from airflow_kconnect.connectors.jdbc.source.planning import ALL, Pieces, Planner, Window, block_ranges
from airflow_kconnect.connectors.jdbc.source.tables import Table

_DIALECT = dialect_of(JdbcUrl.parse("jdbc:sqlite:/any.db"))
_ID = Cursor(id='"id"', exact=True)
_TIMESTAMP = Cursor(timestamp='"ts"', id='"id"', literal=lambda n: str(n // 1000), exact=True, id_is_offset=False)
_BOTH = Cursor(timestamp='"ts"', id='"id"', literal=lambda n: str(n // 1000), exact=True)
_FIRST = {"id": Position(id=-1), "timestamp": Position(-1000), "both": Position(-1000, -1)}
_CURSORS = {"id": _ID, "timestamp": _TIMESTAMP, "both": _BOTH}
Row = tuple[int, int]


class _Rows:
    """The part of `Database` that plans use, over Python's own SQLite."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("create table t (ts int, id int)")
        self._connection.executemany("insert into t values (?, ?)", rows)

    def rows(self, sql: str) -> list[tuple[str | None, ...]]:
        fetched = self._connection.execute(sql).fetchall()
        return [tuple(None if value is None else str(value) for value in row) for row in fetched]

    def row(self, sql: str) -> tuple[str | None, ...]:
        (row,) = self.rows(sql)
        return row

    def of(self, cursor: Cursor, split: Split) -> list[Any]:
        where = f"{cursor.after(Position.of(split.start))} and {cursor.until(Position.of(split.end))}{cursor.order}"
        return self._connection.execute(f"select ts, id from t where {where}").fetchall()


def _plan(
    rows: Sequence[Row], cursor: str, *, max_rows: int | None = None, piece: int = 4, before: int | None = None
) -> tuple[list[list[Any]], list[Split], bool]:
    """The rows of each split, the splits, and whether rows are left."""
    db = _Rows(rows)
    source = Source(Table(None, ()), "t", ({"query": "query"},), "t", (), (), _CURSORS[cursor])
    context = PlanContext({}, {}, max_rows, None, lambda: 2, lambda: pytest.fail("no Spark is needed"))
    planner = Planner(cast(Database, db), _DIALECT, source, {"query": "query"})
    window = Window(_FIRST[cursor], end_timestamp=before)
    splits, _, more = planner.splits(window, Pieces(piece, context), max_rows)
    return [db.of(source.cursor, split) for split in splits], splits, more


def _sorted(rows: Sequence[Row], cursor: str) -> list[Row]:
    return sorted(rows, key=lambda row: (row[1], row[0]) if cursor == "id" else row)


@st.composite
def _tables(draw: st.DrawFn) -> list[Row]:
    """Unique numbers; timestamps of which many are equal."""
    numbers = draw(st.lists(st.integers(0, 1000), unique=True, max_size=40))
    return [(draw(st.integers(0, 5)), number) for number in numbers]


@pytest.mark.parametrize("cursor", _CURSORS)
class TestSplits:
    @given(rows=_tables(), piece=st.integers(1, 20))
    def test_hold_every_row_once_and_in_order(self, cursor: str, rows: list[Row], piece: int) -> None:
        parts, splits, more = _plan(rows, cursor, piece=piece)
        assert [row for part in parts for row in part] == _sorted(rows, cursor)
        assert all(before.end == after.start for before, after in pairwise(splits))
        assert not more

    @given(rows=_tables(), max_rows=st.integers(1, 30))
    def test_keep_the_bound_and_never_part_what_an_offset_cannot(
        self, cursor: str, rows: list[Row], max_rows: int
    ) -> None:
        parts, splits, more = _plan(rows, cursor, max_rows=max_rows)
        planned = [row for part in parts for row in part]
        expected = _sorted(rows, cursor)[: len(planned)]
        assert (planned, more) == (expected, len(planned) < len(rows))
        groups = {row[0] for row in planned}
        if cursor != "timestamp":
            assert len(planned) == min(max_rows, len(rows))
        elif len(groups) > 1:
            assert len(planned) <= max_rows
        if cursor == "timestamp":
            assert not groups & {row[0] for row in rows if row not in planned}
            assert all(Position.of(split.end).id is None for split in splits[-1:])

    def test_are_balanced(self, cursor: str) -> None:
        parts, *_ = _plan([(n**2, n) for n in range(1000)], cursor, piece=100)
        assert {len(part) for part in parts} == {100}

    def test_of_nothing_are_none(self, cursor: str) -> None:
        assert _plan([], cursor)[0] == []


@given(_tables(), st.integers(0, 6))
def test_upper_bound_of_timestamps_is_exclusive(rows: list[Row], before: int) -> None:
    parts, *_ = _plan(rows, "timestamp", before=before * 1000)
    assert [row for part in parts for row in part] == sorted(row for row in rows if row[0] < before)


def _block_splits(blocks: int, pieces: int) -> list[Split]:
    return block_ranges(Source(Table(None, ()), "t", ({},), "t", (), (), Cursor()), {}, blocks, pieces)


def test_blocks_are_cut_evenly() -> None:
    assert [split.start for split in _block_splits(10, 3)] == [0, 3, 6]


@given(st.integers(0, 40), st.integers(2, 12))
def test_every_block_is_in_one_range_also_those_that_were_not_counted(counted: int, pieces: int) -> None:
    splits = _block_splits(counted, pieces)
    if splits[0].detail["kind"] == ALL:
        assert len(splits) == 1
    else:
        for block in (*range(50), 0xFFFF_FFFE):
            assert sum(int(split.start) <= block < int(split.end) for split in splits) == 1


@pytest.mark.parametrize(
    ("rows", "pieces"), [(0, 1), (10, 1), (49, 1), (50, 2), (100, 2), (201, 4), (1000, 10), (1001, 12)]
)
def test_pieces_come_in_whole_waves(rows: int, pieces: int) -> None:
    context = PlanContext({}, {}, None, None, lambda: 2, lambda: pytest.fail("no Spark is needed"))
    assert Pieces(100, context).count(rows) == pieces


def test_a_large_table_has_larger_pieces_rather_than_more_than_a_plan_has_room_for() -> None:
    context = PlanContext({}, {}, None, None, lambda: 4, lambda: None, plan_splits=1000)  # type: ignore[arg-type,return-value]
    assert Pieces(100, context).count(10_000_000) == 1000
