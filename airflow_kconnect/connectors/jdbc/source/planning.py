"""Cuts what is new in a table into splits of about equal numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from airflow_kconnect.connect.connector.source import PlanContext, Split
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect

ROWS, BLOCKS, ALL = "rows", "blocks", "all"
"""Kinds of splits: ranges of a cursor, ranges of a table's blocks, everything."""
_BEYOND_BLOCKS = 0xFFFF_FFFF
"""No table has that many blocks."""


@dataclass(frozen=True)
class Window:
    """What is new: after `start`, up to `last` and before `end_timestamp` (None: no bound).

    :param is_restart: whether the offset goes back to `start`, even if there are no rows.
    """

    start: Position | None
    last: Position | None = None
    end_timestamp: int | None = None
    is_restart: bool = False


@dataclass(frozen=True)
class Pieces:
    """How a range is cut.

    :param rows: `split.rows`.
    """

    rows: int
    context: PlanContext

    def count(self, rows: int) -> int:
        """Whole waves of parallel pieces of at most `rows` rows; never pieces of less than a quarter of it."""
        parallel = self.context.parallelism()
        pieces = parallel * -(-rows // (self.rows * parallel))
        max_pieces = min(self.context.splits_max or pieces, self.context.plan_splits or pieces)
        return max(1, min(pieces, rows // max(1, self.rows // 4), max_pieces))


class Planner:
    """Plans the splits of one table; asks the database through one connection, which may be a snapshot."""

    def __init__(self, db: Database, dialect: Dialect, source: Source, partition: dict[str, Any]) -> None:
        self._db, self._dialect, self._source, self._partition = db, dialect, source, partition
        self._cursor = source.cursor
        self._from = f"FROM {source.relation} {dialect.quote('t')}"

    def splits(self, window: Window, pieces: Pieces, max_rows: int | None) -> tuple[list[Split], int, bool]:
        """The splits of a window.

        :param max_rows: the maximum number of rows, at least one group of equal timestamps; None: no bound.
        :returns: the splits, the number of rows in them, whether rows of the window are left.
        """
        if max_rows is None and (planned := self._by_statistics(window, pieces)) is not None:
            return planned
        where = self._where(window)
        rows, end = self._extent(where)
        if rows == 0 or end is None:
            back = window.start if window.is_restart else None
            return ([] if back is None else self._joined(back, (), back)), 0, False
        more = max_rows is not None and rows > max_rows
        if more and max_rows is not None:
            end = self._bounded(where, max_rows)
            window = replace(window, last=end)
            where, total = self._where(window), rows
            rows = self._count(where)
            more = rows < total
        cuts = self._cuts(where, rows, pieces.count(rows))
        return self._joined(window.start, cuts, end), rows, more

    def _by_statistics(self, window: Window, pieces: Pieces) -> tuple[list[Split], int, bool] | None:
        """A large table cut without looking at all of its rows; None if it is not large, or not known."""
        name, cursor = self._cursor.id_name, self._cursor
        if cursor.timestamp is not None or name is None:
            return None
        known = self._dialect.quantiles(self._db, self._source.table, name)
        if known is None:
            return None
        (highest,) = self._db.row(f"SELECT MAX({cursor.id}) {self._from}")
        end = window.last or Position(id=whole(highest))
        start = window.start or self._before_all()
        assert start.id is not None and end.id is not None
        inside = [bound for bound in known[1] if start.id < bound < end.id]
        rows = known[0] * len(inside) // max(1, len(known[1]))
        if rows < self._dialect.large_rows:
            return None
        count = min(pieces.count(rows), len(inside) + 1)
        cuts = [Position(id=inside[len(inside) * piece // count]) for piece in range(1, count)]
        return self._joined(start, cuts, end), rows, False

    def _joined(self, start: Position | None, cuts: Sequence[Position], end: Position) -> list[Split]:
        bounds = [cut for cut in dict.fromkeys(cuts) if cut != end]
        first = start or self._before_all()
        detail = {"kind": ROWS, "columns": self._source.table.fingerprint()}
        positions = [position.progress() for position in (first, *bounds, end)]
        return [Split(self._partition, a, b, detail) for a, b in pairwise(positions)]

    def _before_all(self) -> Position:
        (lowest,) = self._db.row(f"SELECT MIN({self._cursor.id}) {self._from}")
        return Position(id=whole(lowest) - 1)

    def _where(self, window: Window) -> str:
        conditions = [self._cursor.after(window.start)] if window.start else []
        if window.last is not None:
            conditions.append(self._cursor.until(window.last))
        if window.end_timestamp is not None:
            conditions.append(self._cursor.before(window.end_timestamp))
        # Rows whose cursor is null are in no range.
        conditions += [f"{term} IS NOT NULL" for term in self._cursor.columns if not window.start]
        return f"WHERE {' AND '.join(conditions)}"

    def _count(self, where: str) -> int:
        return whole(self._db.row(f"SELECT COUNT(*) {self._from} {where}")[0])

    def _extent(self, where: str) -> tuple[int, Position | None]:
        """Number of rows, and the last position."""
        cursor, dialect = self._cursor, self._dialect
        if cursor.timestamp is None:
            count, last = self._db.row(f"SELECT COUNT(*), MAX({cursor.id}) {self._from} {where}")
            return whole(count), None if last is None else Position(id=whole(last))
        latest = dialect.cursor_nanoseconds(f"MAX({cursor.timestamp})")
        count, last = self._db.row(f"SELECT COUNT(*), {latest} {self._from} {where}")
        if last is None:
            return 0, None
        at = dialect.nanoseconds(last)
        if not cursor.id_is_offset:
            return whole(count), Position(at)
        same = f"{where} AND {cursor.timestamp} = {cursor.literal(at)}"
        return whole(count), Position(at, whole(self._db.row(f"SELECT MAX({cursor.id}) {self._from} {same}")[0]))

    def _bounded(self, where: str, max_rows: int) -> Position:
        """The last position that an offset can have when at most that many rows are read."""
        position = self._nth(where, max_rows)
        if self._cursor.exact and self._cursor.id_is_offset:
            return position
        group = self._group(position)
        rows = self._count(f"{where} AND {self._cursor.until(group)}")
        if rows <= max_rows:
            return group
        before = self._extent(f"{where} AND NOT ({self._same(group)})" + f" AND {self._cursor.until(group)}")[1]
        return before or group

    def _group(self, position: Position) -> Position:
        """The position of all rows that an offset cannot tell from this one."""
        return position if self._cursor.id_is_offset else replace(position, id=None)

    def _same(self, group: Position) -> str:
        terms = []
        if group.timestamp is not None:
            terms.append(f"{self._cursor.timestamp} = {self._cursor.literal(group.timestamp)}")
        if group.id is not None:
            terms.append(f"{self._cursor.id} = {group.id}")
        return " AND ".join(terms)

    def _nth(self, where: str, n: int) -> Position:
        order = self._cursor.order
        sql = self._dialect.only_row(f"SELECT {self._selected()} {self._from} {where}{order}", n)
        return self._position(self._db.row(sql))

    def _selected(self, *, alias: bool = False) -> str:
        cursor, quote = self._cursor, self._dialect.quote
        terms = [quote("a") if alias else cursor.timestamp, quote("b") if alias else cursor.id]
        at = self._dialect.cursor_nanoseconds(terms[0]) if cursor.timestamp and terms[0] else "0"
        return f"{at}, {terms[1] if cursor.id else 0}"

    def _position(self, row: Sequence[str | None]) -> Position:
        cursor = self._cursor
        at = self._dialect.nanoseconds(row[-2]) if cursor.timestamp else None
        return Position(at, whole(row[-1]) if cursor.id else None)

    def _cuts(self, where: str, rows: int, pieces: int) -> list[Position]:
        if pieces <= 1:
            return []
        if not self._dialect.has_windows:
            return self._even_cuts(where, pieces)
        each, quote = -(-rows // pieces), self._dialect.quote
        cursor = self._cursor
        numbered = (
            f"SELECT {cursor.timestamp or 0} AS {quote('a')}, {cursor.id or 0} AS {quote('b')},"
            f" ROW_NUMBER() OVER ({cursor.order.strip()}) AS {quote('n')} {self._from} {where}"
        )
        every = f"{self._dialect.modulo(quote('n'), each)} = 0 AND {quote('n')} < {rows}"
        cut_rows = self._db.rows(
            f"SELECT {self._selected(alias=True)} FROM ({numbered}) {quote('s')} WHERE {every} ORDER BY {quote('n')}"
        )
        cuts = [self._position(row) for row in cut_rows]
        # Where ids can be equal, whole timestamps are cut, and what is left of equal ids stays together by itself.
        return cuts if cursor.exact or cursor.timestamp is None else [replace(cut, id=None) for cut in cuts]

    def _even_cuts(self, where: str, pieces: int) -> list[Position]:
        """Equal ranges of numbers, for databases that cannot number rows."""
        if self._cursor.id is None or self._cursor.timestamp is not None:
            return []
        low, high = self._db.row(f"SELECT MIN({self._cursor.id}), MAX({self._cursor.id}) {self._from} {where}")
        first, last = whole(low), whole(high)
        return [Position(id=first + (last - first) * piece // pieces) for piece in range(1, pieces)]


def whole_table(source: Source, partition: dict[str, Any]) -> Split:
    """The only split of a table whose rows nothing orders."""
    return Split(partition, 0, 0, {"kind": ALL, "columns": source.table.fingerprint()})


def block_ranges(source: Source, partition: dict[str, Any], blocks: int, pieces: int) -> list[Split]:
    """Splits by the blocks of PostgreSQL's heap: from block `start`, before block `end`.

    Whatever the number of blocks, every row is in one of them: the last range has no end.
    """
    cuts = sorted({0, *(blocks * piece // pieces for piece in range(1, pieces)), _BEYOND_BLOCKS})
    if len(cuts) == 2:
        return [whole_table(source, partition)]
    detail = {"kind": BLOCKS, "columns": source.table.fingerprint()}
    return [Split(partition, a, b, detail) for a, b in pairwise(cuts)]


def whole(text: str | None) -> int:
    """A number as the database writes it; some write whole decimals with a fraction of zeros."""
    number, _, fraction = (text or "0").partition(".")
    if fraction.strip("0"):
        raise ValueError(f"{text} is not a whole number")
    return int(number)
