"""Reading from MySQL and MariaDB: unsigned numbers, zero dates, both kinds of timestamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.databases.mysql.late_commits import MySqlLateCommits
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import MAX_PRECISION, Kind, kind_of
from airflow_kconnect.connectors.jdbc.source.dialect import MicrosecondDialect, TableFilter, iso
from airflow_kconnect.connectors.jdbc.source.late_commits import LateCommits
from airflow_kconnect.connectors.jdbc.source.misfits import MISFIT
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

_SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys')"
_KINDS = {
    "tinyint": Kind.INT8,
    "smallint": Kind.INT16,
    "mediumint": Kind.INT32,
    "int": Kind.INT32,
    "bigint": Kind.INT64,
    "float": Kind.FLOAT32,
    "double": Kind.FLOAT64,
    "date": Kind.DATE,
    "year": Kind.DATE,
    "time": Kind.TIME,
    "datetime": Kind.WALL,
    "timestamp": Kind.INSTANT,
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), Kind.STRING),
    **dict.fromkeys(("enum", "set", "json", "uuid", "inet4", "inet6"), Kind.STRING),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), Kind.BYTES),
}
# The drivers give these to Spark as they are. Others it would fill up with blanks, or not know.
_PLAIN_TEXTS = ("varchar", "tinytext", "text", "mediumtext", "longtext")
_SHAPES = ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
           "geometrycollection", "geomcollection")  # fmt: skip
_UNSIGNED = {Kind.INT8: Kind.INT16, Kind.INT16: Kind.INT32, Kind.INT32: Kind.INT64}
# Days from 0000-01-01, which stands for zero dates, to 1970-01-01.
_ZERO_DAYS = -719_528
_COLUMNS = """
SELECT column_name, data_type, column_type, coalesce(numeric_precision, character_maximum_length, 0),
  coalesce(numeric_scale, 0), is_nullable, extra, coalesce(datetime_precision, 0)
FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position
"""
_KEYS = """
SELECT index_name, column_name FROM information_schema.statistics
WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index
"""
_ZONES = """
SELECT IF(@@global.time_zone = 'SYSTEM', @@system_time_zone, @@global.time_zone) FROM DUAL
WHERE CONVERT_TZ('2026-01-15 00:00:00', '+00:00', @@global.time_zone) <> '2026-01-15 00:00:00'
  OR CONVERT_TZ('2026-07-15 00:00:00', '+00:00', @@global.time_zone) <> '2026-07-15 00:00:00'
"""


class MySql(MicrosecondDialect):
    """MySQL 8 or newer, MariaDB 10.3 or newer."""

    has_windows = True
    read_options: dict[str, str] = {}

    @property
    def properties(self) -> dict[str, str]:  # type: ignore[override]
        # MySQL's driver reads a whole result at once unless it is told to use a cursor; MariaDB's does as Spark asks.
        return {"useCursorFetch": "true"} if self.url.subprotocol == "mysql" else {}

    def session_start(self) -> str:
        # Spark quotes names of a database that it does not know with double quotes.
        return "SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')"

    def prepare(self, db: Database) -> None:
        db.execute(self.session_start())

    def tables(self, db: Database, scope: TableFilter) -> list[TableName]:
        kinds = {"TABLE": "BASE TABLE", "VIEW": "VIEW"}
        wanted = ",".join(kinds.get(type_.upper(), "-") for type_ in scope.types)
        # Without a pattern MariaDB's driver shows the current database, MySQL's all of them.
        catalog = scope.catalog or (self.url.database if self.url.subprotocol == "mariadb" else None)
        rows = db.rows(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE FIND_IN_SET(table_type, ?) > 0"
            f" AND table_schema LIKE ? AND table_schema NOT IN {_SYSTEM} ORDER BY 1, 2",
            wanted,
            catalog or "%",
        )
        return [TableName(schema, None, name or "") for schema, name in rows]

    def table(self, db: Database, name: TableName) -> Table:
        qualified = (name.catalog or self.url.database or "", name.name)
        columns = tuple(
            Column(
                name=str(column),
                type_name=str(type_),
                jdbc_type=types.DECIMAL_TYPE,
                precision=int(precision or 0),
                scale=int(scale or 0),
                nullable=nullable == "YES",
                signed="unsigned" not in str(full),
                auto_increment="auto_increment" in str(extra),
                fraction=int(fraction or 0),
            )
            for column, type_, full, precision, scale, nullable, extra, fraction in db.rows(_COLUMNS, *qualified)
        )
        indices: dict[str, list[str]] = {}
        for index, column in db.rows(_KEYS, *qualified):
            indices.setdefault(str(index), []).append(str(column))
        unique = frozenset(names[0] for names in indices.values() if len(names) == 1)
        return Table(name, columns, tuple(indices.get("PRIMARY", ())), unique)

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        return int(db.row(f"SELECT {self.micros('UTC_TIMESTAMP(6)')}")[0] or 0) * 1000

    def late_commits(self, db: Database, wait_ms: int) -> LateCommits:
        return MySqlLateCommits(db, self, wait_ms)

    def next_number(self, db: Database, table: Table, column: str) -> int | None:
        counted = table.column(column)
        if table.name is None or counted is None or not counted.auto_increment:
            return None
        # The information schema of MySQL can be a day old.
        statement = str(db.row(f"SHOW CREATE TABLE {self.relation(table.name)}")[1])
        match = re.search(r"^\).*?ENGINE=\S+(?: AUTO_INCREMENT=(\d+))?", statement, re.MULTILINE)
        return int(match[1] or 1) if match else None

    def zones_of_writers(self, db: Database) -> list[str]:
        return [str(zone) for (zone,) in db.rows(_ZONES)]

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        name = column.type_name.lower().removesuffix(" unsigned")
        if name in _SHAPES:
            return None
        if name == "decimal":
            return Kind.DECIMAL if 0 < column.precision <= MAX_PRECISION else None
        if name == "bit":
            return Kind.INT8 if column.precision == 1 else Kind.BYTES
        # Of a query's columns the drivers tell other names.
        kind = _KINDS.get(name) or kind_of(column, "none")
        return _UNSIGNED.get(kind, kind) if kind and _is_unsigned(column) else kind

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        name = self.quote(column.name)
        match kind:
            case Kind.WALL | Kind.INSTANT:
                return _or_zero(name, self.micros(name), _ZERO_DAYS * 86_400_000_000), "bigint"
            case Kind.DATE if column.type_name.lower() == "year":
                return f"IF({name} = 0, {_ZERO_DAYS}, DATEDIFF(MAKEDATE({name}, 1), '1970-01-01'))", "int"
            case Kind.DATE:
                return _or_zero(name, f"DATEDIFF({name}, '1970-01-01')", _ZERO_DAYS), "bigint"
            case Kind.TIME:
                # MariaDB's seconds have a fraction, MySQL's have none.
                ms = f"FLOOR(TIME_TO_SEC({name})) * 1000 + MICROSECOND({name}) DIV 1000"
                return f"CAST(IF({name} < 0, {MISFIT}, {ms}) AS SIGNED)", "bigint"
            case Kind.STRING if column.type_name.lower() not in _PLAIN_TEXTS:
                return f"CONCAT({name}, '')", None
            case Kind.INT8 if column.type_name.lower() == "bit":
                return f"{name} + 0", None
            case Kind.INT64 if _is_unsigned(column):
                return name, "decimal(20,0)"
        return name, None

    def text(self, column: Column) -> str:
        name = self.quote(column.name)
        return f"ST_AsText({name})" if column.type_name.lower() in _SHAPES else f"CAST({name} AS CHAR)"

    def micros(self, term: str) -> str:
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {term})"

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        return f"TIMESTAMP '{iso(nanoseconds, 6)}'"

    def only_row(self, query: str, number: int) -> str:
        return f"{query} LIMIT 1 OFFSET {number - 1}"


def _is_unsigned(column: Column) -> bool:
    return not column.signed or column.type_name.lower().endswith(" unsigned")


def _or_zero(name: str, term: str, zero: int) -> str:
    """The term of a date; it is null also for those of which parts are zero: all of them, or the day alone."""
    return f"COALESCE({term}, CASE WHEN {name} + 0 = 0 THEN {zero} WHEN {name} IS NOT NULL THEN {MISFIT} END)"
