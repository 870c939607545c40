"""What differs between databases when they are read; this one asks JDBC's metadata and suits any database."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.driver.identifiers import quote
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind, kind_of
from airflow_kconnect.connectors.jdbc.source.late_commits import LateCommits
from airflow_kconnect.connectors.jdbc.source.offsets import to_instant
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

_CLOCKS = ("SELECT CURRENT_TIMESTAMP", "VALUES CURRENT_TIMESTAMP", "SELECT CURRENT_TIMESTAMP FROM dual")
_EPOCH = datetime(1970, 1, 1)
_SECOND = 1_000_000_000
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))? ?([+-][\d:]+|[A-Za-z][\w/+-]*)?")
_OFFSET = re.compile(r"([+-])(\d\d?)(?::?(\d\d))?")
_NO_CLOCK = "use `mode=incrementing`"
_NO_TIMESTAMP = "set a `query` that casts it to TIMESTAMP"
_NANOSECONDS = 9
"""Digits that a second has in Java; Db2 has 12."""
_LONGEST = 40
"""Characters that the text of a time, a timestamp or a UUID has at most, and more."""


@dataclass(frozen=True)
class TableFilter:
    """Where tables are looked for; None is anywhere. Schemas by a pattern of LIKE, as JDBC has it."""

    catalog: str | None
    schema: str | None
    types: tuple[str, ...]


class Dialect:
    """Reading from a database that is known by its JDBC driver only. Holds no connection."""

    row_progress = False
    """Whether Spark sees timestamps as exactly as they are compared: else no row is a resume point.
    Spark keeps microseconds: where a column has nanoseconds, it takes two rows for equal that are not."""
    read_options: dict[str, str] = {"preferTimestampNTZ": "true"}

    properties: dict[str, str] = {}
    """For the JDBC driver, in the driver and in Spark."""
    large_rows = 5_000_000
    """Counting that many rows takes a second: beyond, a table is cut by the database's statistics."""

    def __init__(self, url: JdbcUrl) -> None:
        self.url, self._mark = url, database_of(url.subprotocol).mark

    def quote(self, name: str) -> str:
        """A quoted identifier."""
        return quote(name, self._mark)

    def relation(self, table: TableName) -> str:
        """A table's quoted name."""
        parts = (table.catalog, table.schema, table.name)
        return ".".join(self.quote(part) for part in parts if part)

    def prepare(self, db: Database) -> None:
        """Called once on a new connection of the driver."""

    def session_start(self) -> str:
        """Statement that each of Spark's connections begins with, or nothing."""
        return ""

    def export_snapshot(self, db: Database) -> str:
        """Begin a transaction on this connection and offer its view to others, while the connection is open.

        :returns: the statement that their transactions begin with.
        """
        raise AssertionError("only databases with has_snapshots are asked")

    def blocks(self, db: Database, table: Table) -> tuple[int, int] | None:
        """Number of blocks and rows of a table that can be read in ranges of blocks; None if it cannot."""
        return None

    def quantiles(self, db: Database, table: Table, column: str) -> tuple[int, list[int]] | None:
        """About how many rows a table has and values that part them evenly, where it is too large to be counted."""
        return None

    def catalog(self, db: Database) -> str | None:
        """Name of the database that is part of table names in some versions of Connect's offsets."""
        return None

    def tables(self, db: Database, scope: TableFilter) -> list[TableName]:
        """Tables, by name."""

        def ask(connection: Any) -> list[TableName]:
            gateway = _gateway()
            types = gateway.new_array(gateway.jvm.java.lang.String, len(scope.types))
            for index, type_ in enumerate(scope.types):
                types[index] = type_
            result_set = connection.getMetaData().getTables(scope.catalog, scope.schema, "%", types)
            names = (self._name(*(_string(result_set, n) for n in (1, 2, 3))) for _ in _each(result_set))
            return sorted(names, key=lambda t: t.text)

        tables: list[TableName] = db.described("listing tables", ask)
        return tables

    def _name(self, catalog: str | None, schema: str | None, name: str | None) -> TableName:
        return TableName(catalog or None, schema or None, name or "")

    def table(self, db: Database, name: TableName) -> Table:
        """A table with its columns and keys."""
        columns = self._described(db, self.relation(name))
        primary_key, unique = db.described(f"describing {name.text}", lambda connection: _keys(connection, name))
        return Table(name, columns, primary_key, unique)

    def columns(self, db: Database, query: str) -> tuple[Column, ...]:
        """The columns of a query's result."""
        return self._described(db, f"({query}\n)")

    def _described(self, db: Database, relation: str) -> tuple[Column, ...]:
        """Of a sub-select some databases do not say which columns are NOT NULL, or numbered by them."""

        def ask(connection: Any) -> tuple[Column, ...]:
            statement = connection.prepareStatement(f"SELECT * FROM {relation} {self.quote('t')} WHERE 1 = 0")
            try:
                result_set = statement.executeQuery()
                return tuple(_columns(result_set.getMetaData()))
            finally:
                statement.close()

        columns: tuple[Column, ...] = db.described("describing the columns", ask)
        return columns

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        """The database's clock, nanoseconds since the epoch.

        :param zone: zone of timestamps that do not know theirs.
        """
        wall, own_zone = _moment(_clock(db), f"{db.label}: its clock", _NO_CLOCK)
        return to_instant(wall, own_zone or zone)

    def late_commits(self, db: Database, wait_ms: int) -> LateCommits | None:
        """What knows which rows open transactions can still add; None: the database does not show them.

        :param db: a connection that holds no snapshot.
        :param wait_ms: `late.commits.wait.ms`.
        """
        return None

    def next_number(self, db: Database, table: Table, column: str) -> int | None:
        """The number that the next row gets in a column; None: the database does not give it, or does not say."""
        return None

    def zones_of_writers(self, db: Database) -> list[str]:
        """Zones other than UTC in which sessions write, as far as the database says."""
        return []

    # How values travel

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        """What a column holds; None if Connect has no counterpart."""
        return kind_of(column, numeric_mapping)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        """Term that selects a column, and Spark's type for it (None: the one of the kind)."""
        name = self.quote(column.name)
        match kind:
            case Kind.INSTANT:
                # Spark does not know the type, and the text says its zone.
                return as_text(name), "string"
            case Kind.TIME if column.scale > 0:
                # Java's times are of whole seconds.
                return as_text(name), "string"
            case Kind.TIME:
                return name, "timestamp_ntz"
        return name, None

    def text(self, column: Column) -> str:
        """Term that selects a column of any type as text."""
        return f"CAST({self.quote(column.name)} AS VARCHAR(32672))"

    # Cursors

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        """Term by which rows are compared: the first of the columns that is not null."""
        return coalesced([self.wall(column) for column in columns])

    def wall(self, column: Column) -> str:
        """A column as a timestamp without zone, which Spark knows and each database compares; one with zone in UTC."""
        name = self.quote(column.name)
        match column.jdbc_type:
            case types.DATE_TYPE:
                return f"CAST({name} AS TIMESTAMP)"
            case types.TIMESTAMP_TYPE if column.scale > _NANOSECONDS:
                # Else a row is always later than its own cursor, in which Java leaves out its picoseconds.
                return f"CAST({name} AS TIMESTAMP({_NANOSECONDS}))"
            case types.TIMESTAMP_ZONED:
                return f"CAST({name} AT TIME ZONE INTERVAL '0:00' HOUR TO MINUTE AS TIMESTAMP({_NANOSECONDS}))"
        return name

    def unreadable(self, columns: Sequence[Column]) -> str:
        """Condition: one of the columns has a value that is neither null nor a timestamp; empty: none can have one."""
        return ""

    def cursor_nanoseconds(self, term: str) -> str:
        """Term that a driver's query selects for `nanoseconds` to read."""
        return term

    def cursor_micros(self, columns: Sequence[Column]) -> str:
        """Term that Spark selects for the microseconds of the cursor; only where `row_progress` holds."""
        raise AssertionError("only dialects with row_progress are asked")

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        """Literal that compares with `cursor_timestamp`."""
        # JDBC's own notation, which each driver translates.
        return f"{{ts '{iso(nanoseconds)}'}}"

    def nanoseconds(self, text: str | None) -> int:
        """What `cursor_nanoseconds` selected, since 1970-01-01 00:00."""
        return to_instant(*_moment(text, f"{self.url.shown}: a timestamp column", _NO_TIMESTAMP))

    # Splits

    has_windows = False
    """Whether ``row_number() OVER (ORDER BY ...)`` is known."""

    def only_row(self, query: str, number: int) -> str:
        """A sorted query reduced to its n-th row, counted from 1."""
        return f"{query} OFFSET {number - 1} ROWS FETCH NEXT 1 ROWS ONLY"

    def modulo(self, number: str, by: int) -> str:
        """Remainder of a division."""
        return f"MOD({number}, {by})"


class TextDialect(Dialect):
    """Of a database whose driver takes times for those of the zone of the JVM: they leave it as texts in ISO form."""

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        if kind in (Kind.WALL, Kind.TIME):
            return as_text(self.quote(column.name)), "string"
        return super().select(column, kind)

    def cursor_nanoseconds(self, term: str) -> str:
        return as_text(term)


class MicrosecondDialect(Dialect, ABC):
    """Of a database that counts microseconds since 1970 itself, so that Spark can read the cursor of each row."""

    row_progress = True

    @abstractmethod
    def micros(self, term: str) -> str:
        """Term for the microseconds of a timestamp since 1970-01-01 00:00."""

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        return coalesced([self.quote(column.name) for column in columns])

    def cursor_nanoseconds(self, term: str) -> str:
        return f"{self.micros(term)} * 1000"

    def cursor_micros(self, columns: Sequence[Column]) -> str:
        return self.micros(self.cursor_timestamp(columns))

    def nanoseconds(self, text: str | None) -> int:
        return int(text or 0)


def iso(nanoseconds: int, digits: int = 9) -> str:
    """``2020-01-31 12:00:00.123456789`` (years 1 to 9999)."""
    seconds, fraction = divmod(nanoseconds, _SECOND)
    # %Y would write year 1 as `1`, which some databases take for 2001.
    return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat(' ')}.{fraction:09d}"[: 20 + digits]


def _clock(db: Database) -> str | None:
    problem: DataError | None = None
    for query in _CLOCKS:
        try:
            return db.row(query)[0]
        except DataError as error:
            problem = problem or error
    raise problem or DataError("no clock")


def _moment(text: str | None, whose: str, cure: str) -> tuple[int, tzinfo | None]:
    """Nanoseconds since 1970-01-01 00:00 on a clock, and the zone of that clock if the text has one."""
    match = _MOMENT.fullmatch(text or "")
    try:
        if match is None:
            raise ValueError
        seconds = (datetime.fromisoformat(f"{match[1]}T{match[2]}") - _EPOCH).total_seconds()
        zone = _zone(match[4]) if match[4] else None
    except (ValueError, KeyError, OSError):
        raise DataError(
            f"{whose} says {text!r}, which is not a timestamp with an offset or a zone's name: {cure}"
        ) from None
    return int(seconds) * _SECOND + int((match[3] or "0").ljust(9, "0")), zone


def _zone(text: str) -> tzinfo:
    """``Z``, ``+02``, ``-3:30``, ``+0200`` or a name."""
    offset = _OFFSET.fullmatch(text)
    if offset is None:
        return ZoneInfo("UTC" if text == "Z" else text)
    east = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    return timezone(-east if offset[1] == "-" else east)


def coalesced(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"COALESCE({', '.join(terms)})"


def as_text(term: str) -> str:
    """A time, timestamp or UUID as text."""
    return f"CAST({term} AS VARCHAR({_LONGEST}))"


def _gateway() -> Any:
    from pyspark import SparkContext

    return SparkContext._gateway


def _string(result_set: Any, column: int | str) -> str | None:
    value = result_set.getString(column)
    return None if value is None else str(value)


def _each(result_set: Any) -> Iterator[Any]:
    try:
        while result_set.next():
            yield result_set
    finally:
        result_set.close()


def _columns(meta: Any) -> Iterator[Column]:
    no_nulls = 0
    for n in range(1, meta.getColumnCount() + 1):
        yield Column(
            name=str(meta.getColumnLabel(n)),
            type_name=str(meta.getColumnTypeName(n)),
            jdbc_type=int(meta.getColumnType(n)),
            precision=int(meta.getPrecision(n)),
            scale=int(meta.getScale(n)),
            nullable=int(meta.isNullable(n)) != no_nulls,
            signed=bool(meta.isSigned(n)),
            auto_increment=bool(meta.isAutoIncrement(n)),
        )


def _keys(connection: Any, table: TableName) -> tuple[tuple[str, ...], frozenset[str]]:
    """Primary key, and the columns that are unique on their own."""
    meta = connection.getMetaData()
    qualified = (table.catalog, table.schema, table.name)
    primary_keys = meta.getPrimaryKeys(*qualified)
    key = sorted((int(row.getShort("KEY_SEQ")), str(row.getString("COLUMN_NAME"))) for row in _each(primary_keys))
    indices: dict[str, list[str]] = {}
    for row in _each(meta.getIndexInfo(*qualified, True, True)):
        if (name := _string(row, "INDEX_NAME")) and (column := _string(row, "COLUMN_NAME")):
            indices.setdefault(name, []).append(column)
    unique = {columns[0] for columns in indices.values() if len(columns) == 1}
    names = tuple(name for _, name in key)
    return names, frozenset(unique | (set(names) if len(names) == 1 else set()))
