"""Reading from SQLite, where values have types, and columns only affinities.

Timestamps are what its drivers and functions write: ISO texts, milliseconds (INTEGER) or Julian days (REAL).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import MAX_PRECISION, Kind, numeric_kind
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect, TableFilter, coalesced
from airflow_kconnect.connectors.jdbc.source.misfits import MISFIT
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

# The first that a declared type contains, as SQLite's own rules of affinity work.
_KINDS = (
    ("BOOL", Kind.BOOLEAN),
    ("INT", Kind.INT64),
    ("DATETIME", Kind.WALL),
    ("TIMESTAMP", Kind.WALL),
    ("DATE", Kind.DATE),
    ("TIME", Kind.TIME),
    ("CHAR", Kind.STRING),
    ("CLOB", Kind.STRING),
    ("TEXT", Kind.STRING),
    ("JSON", Kind.STRING),
    ("UUID", Kind.STRING),
    ("BLOB", Kind.BYTES),
    ("REAL", Kind.FLOAT64),
    ("FLOA", Kind.FLOAT64),
    ("DOUB", Kind.FLOAT64),
)
_TYPE = re.compile(r"\s*(.*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*", re.DOTALL)
_DAY_MS = 86_400_000


class Sqlite(Dialect):
    """SQLite 3.25 or newer."""

    row_progress = True
    has_windows = True
    read_options: dict[str, str] = {}
    # Reading and writing, but no creation: a wrong path would leave an empty file behind.
    properties = {"open_mode": "2"}

    def tables(self, db: Database, scope: TableFilter) -> list[TableName]:
        kinds = {"TABLE": "table", "VIEW": "view"}
        wanted = ",".join(kinds.get(type_.upper(), "") for type_ in scope.types)
        rows = db.rows(
            "SELECT name FROM sqlite_master WHERE instr(?, type) > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            " ORDER BY name",
            wanted,
        )
        return [TableName(None, None, name or "") for (name,) in rows]

    def table(self, db: Database, name: TableName) -> Table:
        # Only this list has generated columns too; hidden ones (1) are not in SELECT * either.
        rows = db.rows(
            'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid', name.name
        )
        key = tuple(str(row[0]) for row in sorted((row for row in rows if row[3] != "0"), key=lambda r: int(r[3] or 0)))
        columns = tuple(_column(str(row[0]), row[1] or "", row[2] == "1", key) for row in rows)
        unique = db.rows(
            'SELECT min(i.name) FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l."unique" = 1'
            " AND l.partial = 0 GROUP BY l.name HAVING count(*) = 1 AND count(i.name) = 1",
            name.name,
        )
        return Table(name, columns, key, frozenset({str(row[0]) for row in unique} | set(key if len(key) == 1 else ())))

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        (ms,) = db.row("SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)")
        return int(ms or 0) * 1_000_000

    def next_number(self, db: Database, table: Table, column: str) -> int | None:
        """Of a table with AUTOINCREMENT; of others the highest number counts up, or is given again."""
        counted = table.column(column)
        if table.name is None or counted is None or not counted.auto_increment:
            return None
        if not db.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'"):
            return None
        rows = db.rows("SELECT seq + 1 FROM sqlite_sequence WHERE name = ?", table.name.name)
        return int(rows[0][0] or 0) if rows else None

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        name = column.type_name.upper()
        if "NUMERIC" in name or "DECIMAL" in name:
            return numeric_kind(column, numeric_mapping) if column.precision else Kind.FLOAT64
        if not name:
            return Kind.STRING
        return next((kind for part, kind in _KINDS if part in name), None)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        name = self.quote(column.name)
        match kind:
            case Kind.WALL:
                return _or_misfit(name, _micros(name)), "bigint"
            case Kind.DATE:
                return _or_misfit(name, f"CAST(floor({_micros(name)} / 86400000000.0) AS INTEGER)"), "bigint"
            case Kind.TIME:
                text, number = _micros(f"('1970-01-01 ' || {name})"), _micros(name)
                wrapped = f"({number} / 1000 + {_DAY_MS}) % {_DAY_MS}"
                return _or_misfit(
                    name, f"CASE typeof({name}) WHEN 'text' THEN {text} / 1000 ELSE {wrapped} END"
                ), "bigint"
            case Kind.BOOLEAN:
                words = f"lower({name}) IN ('true', 't', 'yes', 'y', 'on', '1')"
                return f"CASE typeof({name}) WHEN 'text' THEN {words} WHEN 'null' THEN NULL ELSE {name} <> 0 END", None
            case Kind.DECIMAL:
                # The declared digits bind no value.
                return name, f"decimal({MAX_PRECISION},{column.scale})"
        return name, None

    def text(self, column: Column) -> str:
        return f"CAST({self.quote(column.name)} AS TEXT)"

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        return coalesced([_micros(self.quote(column.name)) for column in columns])

    def unreadable(self, columns: Sequence[Column]) -> str:
        names = [self.quote(column.name) for column in columns]
        return " OR ".join(f"({name} IS NOT NULL AND {_micros(name)} IS NULL)" for name in names)

    def cursor_nanoseconds(self, term: str) -> str:
        return f"{term} * 1000"

    def nanoseconds(self, text: str | None) -> int:
        return int(text or 0)

    def cursor_micros(self, columns: Sequence[Column]) -> str:
        return self.cursor_timestamp(columns)

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        return str(nanoseconds // 1000)

    def only_row(self, query: str, number: int) -> str:
        return f"{query} LIMIT 1 OFFSET {number - 1}"

    def modulo(self, number: str, by: int) -> str:
        return f"{number} % {by}"


def _micros(term: str) -> str:
    text = (
        f"CAST(strftime('%s', {term}) AS INTEGER) * 1000000 + CAST(substr(strftime('%f', {term}), 4) AS INTEGER) * 1000"
    )
    days = f"CAST(round(({term} - 2440587.5) * {_DAY_MS}) AS INTEGER) * 1000"
    return (
        f"(CASE typeof({term}) WHEN 'integer' THEN {term} * 1000 WHEN 'text' THEN {text} WHEN 'real' THEN {days} END)"
    )


def _or_misfit(name: str, term: str) -> str:
    """A term that is null for what it cannot read."""
    return f"COALESCE({term}, CASE WHEN {name} IS NOT NULL THEN {MISFIT} END)"


def _column(name: str, declared: str, not_null: bool, key: tuple[str, ...]) -> Column:
    match = _TYPE.fullmatch(declared)
    assert match is not None
    counts = key == (name,) and declared.upper() == "INTEGER"
    return Column(
        name=name,
        type_name=match[1],
        jdbc_type=types.NUMERIC,
        precision=int(match[2] or 0),
        scale=int(match[3] or 0),
        nullable=not (not_null or counts),
        auto_increment=counts,
    )
