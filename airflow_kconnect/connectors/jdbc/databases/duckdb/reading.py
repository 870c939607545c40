"""Reading from DuckDB: timestamps, dates and times travel as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import MAX_PRECISION, Kind
from airflow_kconnect.connectors.jdbc.source.dialect import MicrosecondDialect, TableFilter, coalesced, iso
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

_KINDS = {
    "BOOLEAN": Kind.BOOLEAN,
    "TINYINT": Kind.INT8,
    "UTINYINT": Kind.INT16,
    "SMALLINT": Kind.INT16,
    "USMALLINT": Kind.INT32,
    "INTEGER": Kind.INT32,
    "UINTEGER": Kind.INT64,
    "BIGINT": Kind.INT64,
    "FLOAT": Kind.FLOAT32,
    "DOUBLE": Kind.FLOAT64,
    "BLOB": Kind.BYTES,
    "DATE": Kind.DATE,
    "TIME": Kind.TIME,
    "TIMESTAMP WITH TIME ZONE": Kind.INSTANT,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.WALL),
    **dict.fromkeys(("VARCHAR", "UUID", "JSON", "BIT", "INTERVAL", "HUGEINT", "UHUGEINT", "UBIGINT"), Kind.STRING),
}
_FRACTIONS = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3}
# Texts that are the values' own, and those that stand for what Connect has no type for.
_CAST = ("UUID", "JSON", "BIT", "INTERVAL", "HUGEINT", "UHUGEINT", "UBIGINT", "ENUM")
# What Spark holds at most: 294247-01-10 04:00:54.775 in milliseconds.
_LAST_MICROS = 9_223_372_036_854_775_000


class DuckDb(MicrosecondDialect):
    """DuckDB 1.4 or newer, whose files this version of the driver reads."""

    has_windows = True
    read_options: dict[str, str] = {}
    # A wrong path would create a file, and several processes may read one.
    # A query has to do with this database alone: not with files, other servers, or extensions that it would load.
    properties = {
        "duckdb.read_only": "true",
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "lock_configuration": "true",
    }

    def tables(self, db: Database, scope: TableFilter) -> list[TableName]:
        kinds = {"TABLE": "BASE TABLE", "VIEW": "VIEW"}
        wanted = ",".join(kinds.get(type_.upper(), "-") for type_ in scope.types)
        rows = db.rows(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE list_contains(string_split(?, ','), table_type) AND table_catalog = current_database()"
            " AND table_schema LIKE ? AND table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2",
            wanted,
            scope.schema or "%",
        )
        return [TableName(None, schema, name or "") for schema, name in rows]

    def table(self, db: Database, name: TableName) -> Table:
        qualified = (name.schema or "main", name.name)
        rows = db.rows(
            "SELECT column_name, data_type, coalesce(numeric_precision, 0), coalesce(numeric_scale, 0), is_nullable,"
            " coalesce(column_default, '') FROM information_schema.columns WHERE table_catalog = current_database()"
            " AND table_schema = ? AND table_name = ? ORDER BY ordinal_position",
            *qualified,
        )
        columns = tuple(
            Column(
                name=str(column),
                type_name=str(type_).partition("(")[0],
                jdbc_type=types.DECIMAL_TYPE,
                precision=int(precision or 0),
                scale=int(scale or 0),
                nullable=nullable == "YES",
                auto_increment=str(default).startswith("nextval("),
                fraction=_FRACTIONS.get(str(type_), 6),
            )
            for column, type_, precision, scale, nullable, default in rows
        )
        keys = db.rows(
            "SELECT constraint_type, array_to_string(constraint_column_names, chr(0)) FROM duckdb_constraints()"
            " WHERE database_name = current_database() AND schema_name = ? AND table_name = ?"
            " AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')",
            *qualified,
        )
        constraints = [(kind, tuple(str(names).split("\0"))) for kind, names in keys]
        primary_key = next((names for kind, names in constraints if kind == "PRIMARY KEY"), ())
        return Table(name, columns, primary_key, frozenset(names[0] for _, names in constraints if len(names) == 1))

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        return int(db.row("SELECT epoch_us(current_timestamp)")[0] or 0) * 1000

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        name = column.type_name.upper().partition("(")[0]
        if name == "DECIMAL":
            return Kind.DECIMAL if 0 < column.precision <= MAX_PRECISION else None
        return Kind.STRING if name == "ENUM" else _KINDS.get(name)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        name = self.quote(column.name)
        match kind:
            case Kind.WALL | Kind.INSTANT:
                return _or_infinite(name, self.micros(name)), "bigint"
            case Kind.DATE:
                return f"CAST({name} - DATE '1970-01-01' AS INTEGER)", "int"
            case Kind.TIME:
                return f"epoch_ms({name})", "bigint"
            case Kind.STRING if column.type_name.upper().partition("(")[0] in _CAST:
                return self.text(column), None
        return name, None

    def text(self, column: Column) -> str:
        return f"CAST({self.quote(column.name)} AS VARCHAR)"

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        return coalesced([self.wall(column) for column in columns])

    def wall(self, column: Column) -> str:
        name = self.quote(column.name)
        # Its nanoseconds are counted as microseconds, so they are compared as such too.
        return f"CAST({name} AS TIMESTAMP)" if column.type_name == "TIMESTAMP_NS" else name

    def micros(self, term: str) -> str:
        return f"epoch_us({term})"

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        return f"TIMESTAMP '{iso(nanoseconds, 6)}'"

    def only_row(self, query: str, number: int) -> str:
        return f"{query} LIMIT 1 OFFSET {number - 1}"

    def modulo(self, number: str, by: int) -> str:
        return f"{number} % {by}"


def _or_infinite(name: str, term: str) -> str:
    """Infinity, which DuckDB does not count, is the last moment of Connect's Timestamp, minus infinity the first."""
    return (
        f"CASE WHEN isfinite({name}) THEN {term}"
        f" WHEN {name} > TIMESTAMP '1970-01-01' THEN {_LAST_MICROS} WHEN {name} IS NOT NULL THEN -{_LAST_MICROS} END"
    )
