"""Conditions of cursors, checked by SQLite on real rows: splits part no rows and double none."""

from __future__ import annotations

import sqlite3
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor, Position

_BOTH = Cursor(timestamp="ts", id="id", exact=True)
_ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30)), unique=True, max_size=40)
_CUTS = st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(0, 30))), max_size=5)


@pytest.mark.parametrize(
    ("cursor", "position", "after", "until"),
    [
        (Cursor(id='"i"'), Position(id=5), '"i" > 5', '"i" <= 5'),
        (Cursor(timestamp="t"), Position(7), "t > 7", "t <= 7"),
        (_BOTH, Position(7, 5), "ts >= 7 AND (ts > 7 OR id > 5)", "ts <= 7 AND (ts < 7 OR id <= 5)"),
        (_BOTH, Position(7), "ts > 7", "ts <= 7"),
    ],
)
def test_conditions(cursor: Cursor, position: Position, after: str, until: str) -> None:
    assert (cursor.after(position), cursor.until(position)) == (after, until)


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_before_a_moment_is_before_it_also_where_literals_are_rounded_down(moment: int, value: int) -> None:
    condition = Cursor(timestamp="t", literal=lambda at: str(at // 5 * 5)).before(moment)
    stored = value * 5
    with sqlite3.connect(":memory:") as db:
        assert db.execute(f"select {condition} from (select {stored} as t)").fetchone() == (int(stored < moment),)


def _order(position: Position) -> tuple[int, float]:
    assert position.timestamp is not None
    return position.timestamp, float("inf") if position.id is None else position.id


@given(_ROWS, _CUTS)
def test_neighbouring_ranges_hold_every_row_once_and_in_order(
    rows: list[tuple[int, int]], cuts: list[tuple[int, int | None]]
) -> None:
    positions = sorted({Position(*cut) for cut in cuts}, key=_order)
    bounds = [Position(-1, -1), *positions, Position(99)]
    with sqlite3.connect(":memory:") as db:
        db.execute("create table t (ts int, id int)")
        db.executemany("insert into t values (?, ?)", rows)
        held = []
        for start, end in pairwise(bounds):
            where = f"{_BOTH.after(start)} and {_BOTH.until(end)}{_BOTH.order}"
            held += db.execute(f"select ts, id from t where {where}").fetchall()
    assert held == sorted(rows)


@pytest.mark.parametrize("progress", ["", "x:1", "1:y", "1"])
def test_progress_of_something_else_is_refused(progress: str) -> None:
    if progress == "1":
        assert Position.of(progress) == Position(1)
        return
    with pytest.raises(DataError, match="is not a position in a table"):
        Position.of(progress)
