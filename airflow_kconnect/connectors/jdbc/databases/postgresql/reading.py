"""Reading from PostgreSQL: its catalog, its types, exact timestamps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.databases.postgresql.late_commits import READER, PostgresLateCommits
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind, numeric_kind
from airflow_kconnect.connectors.jdbc.source.dialect import MicrosecondDialect, TableFilter, iso
from airflow_kconnect.connectors.jdbc.source.late_commits import LateCommits
from airflow_kconnect.connectors.jdbc.source.misfits import MISFIT
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

_RELATIONS = {
    "TABLE": "r",
    "PARTITIONED TABLE": "p",
    "VIEW": "v",
    "MATERIALIZED VIEW": "m",
    "FOREIGN TABLE": "f",
}

# Of a domain the type below it counts.
_DESCRIBE = """
SELECT json_build_object(
  'columns', (
    SELECT coalesce(json_agg(json_build_object(
      'name', a.attname, 'type', coalesce(b.typname, t.typname), 'is_enum', coalesce(b.typtype, t.typtype) = 'e',
      'modifier', CASE WHEN a.atttypmod < 0 AND b.oid IS NOT NULL THEN t.typtypmod ELSE a.atttypmod END,
      'not_null', a.attnotnull OR t.typnotnull,
      'counts', a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false)
    ) ORDER BY a.attnum), '[]')
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd'
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'keys', (
    SELECT coalesce(json_agg(json_build_object('primary', i.indisprimary, 'columns', (
      SELECT json_agg(a.attname ORDER BY k.position)
      FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, position)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number WHERE k.position <= i.indnkeyatts))), '[]')
    FROM pg_index i
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL),
  -- A key of a parent says nothing of the rows of its children, unless these are partitions.
  'has_children', c.relhassubclass AND c.relkind <> 'p'
)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?
"""

# The driver sets the zone of each session, so that the server's own cannot be asked for: initdb gives its log the same.
_ZONES = """
SELECT DISTINCT zone FROM (
  SELECT current_setting('log_timezone') AS zone
  UNION
  SELECT split_part(setting, '=', 2) FROM pg_db_role_setting, unnest(setconfig) AS setting
  WHERE lower(setting) LIKE 'timezone=%'
    AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
) AS setting_zones, (VALUES (TIMESTAMP '2026-01-15'), (TIMESTAMP '2026-07-15')) AS moment (at)
WHERE at AT TIME ZONE 'UTC' AT TIME ZONE zone <> at ORDER BY 1
"""

# Sequences that count up, and that the user may look at.
_SEQUENCE = """
SELECT s.oid::regclass::text, q.seqincrement FROM pg_depend d
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid
JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
  AND d.refobjid = to_regclass(?) AND a.attname = ? AND q.seqincrement > 0 AND NOT q.seqcycle
  AND has_sequence_privilege(s.oid, 'SELECT')
"""

_KINDS = {
    "bool": Kind.BOOLEAN,
    "int2": Kind.INT16,
    "int4": Kind.INT32,
    "int8": Kind.INT64,
    "oid": Kind.INT64,
    # So the driver calls columns that are numbered by a sequence.
    "smallserial": Kind.INT16,
    "serial": Kind.INT32,
    "bigserial": Kind.INT64,
    "float4": Kind.FLOAT32,
    "float8": Kind.FLOAT64,
    "bytea": Kind.BYTES,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "timetz": Kind.TIME,
    "timestamp": Kind.WALL,
    "timestamptz": Kind.INSTANT,
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "citext"), Kind.STRING),
    **dict.fromkeys(("json", "jsonb", "uuid", "xml"), Kind.STRING),
}
# The driver gives these to Spark as strings; all other texts are cast.
_PLAIN_TEXTS = ("text", "varchar", "bpchar")
# What spark holds at most: 294247-01-10 04:00:54.775 in milliseconds.
_LAST_MICROS = 9_223_372_036_854_775_000
_LAST_DAY = 2_147_483_647
# Before it all moments have microseconds that a number of 64 bits holds.
_END = "294247-01-10 04:00:54+00"
# Digits after the point of a timestamp, unless its type says another number.
_FRACTION = 6


class PostgreSql(MicrosecondDialect):
    """PostgreSQL 12 or newer."""

    has_windows = True
    read_options: dict[str, str] = {}

    def export_snapshot(self, db: Database) -> str:
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        (name,) = db.row("SELECT pg_export_snapshot()")
        assert name is not None and name.replace("-", "").isalnum()
        return (
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
            f" SET TRANSACTION SNAPSHOT '{name}'; {self.session_start()}"
        )

    def blocks(self, db: Database, table: Table) -> tuple[int, int] | None:
        """Since version 14 a range of blocks is read without the rest of the table.

        Only rows of a heap are in blocks of its own: those of a parent are also in its children's.
        """
        if table.name is None:
            return None
        relation = self.relation(table.name)
        # The planner's guess also counts tables that were never analysed. To ask for it locks the table until the
        # transaction ends: no one rewrites it between two splits.
        (plan,) = db.row(f"EXPLAIN (FORMAT JSON) SELECT FROM {relation}")
        rows = db.rows(
            "SELECT pg_relation_size(c.oid) / current_setting('block_size')::int"
            " FROM pg_class c JOIN pg_am m ON m.oid = c.relam"
            " WHERE c.oid = to_regclass(?) AND c.relkind IN ('r', 'm') AND m.amname = 'heap' AND NOT c.relhassubclass"
            " AND current_setting('server_version_num')::int >= 140000",
            relation,
        )
        return (int(rows[0][0] or 0), int(json.loads(plan or "")[0]["Plan"]["Plan Rows"])) if rows else None

    def session_start(self) -> str:
        return (
            f"SET application_name = '{READER}'; SET default_transaction_read_only = on;"
            # A split takes long, and the snapshot's session, and one that waits for Kafka, are idle for long.
            " SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN"
            " ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')"
        )

    def quantiles(self, db: Database, table: Table, column: str) -> tuple[int, list[int]] | None:
        if table.name is None:
            return None
        rows = db.rows(
            "SELECT c.reltuples::bigint, array_to_json(s.histogram_bounds::text::bigint[]) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_stats s ON s.schemaname = n.nspname"
            " AND s.tablename = c.relname AND s.attname = ? WHERE c.oid = to_regclass(?) AND c.reltuples > ?",
            column,
            self.relation(table.name),
            self.large_rows,
        )
        return (int(rows[0][0] or 0), json.loads(rows[0][1])) if rows and rows[0][1] else None

    def prepare(self, db: Database) -> None:
        db.execute("SET TIME ZONE 'UTC'")
        db.execute(self.session_start())

    def catalog(self, db: Database) -> str | None:
        return db.row("SELECT current_database()")[0]

    def tables(self, db: Database, scope: TableFilter) -> list[TableName]:
        kinds = "".join(_RELATIONS.get(type_.upper(), "") for type_ in scope.types)
        rows = db.rows(
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE strpos(?, c.relkind::text) > 0 AND n.nspname <> 'information_schema'"
            " AND n.nspname !~ '^pg_(catalog|toast|temp_|toast_temp_)' AND n.nspname LIKE ? ORDER BY 1, 2",
            kinds,
            scope.schema or "%",
        )
        return [TableName(None, schema, name or "") for schema, name in rows]

    def table(self, db: Database, name: TableName) -> Table:
        (text,) = db.row(_DESCRIBE, name.schema or "public", name.name)
        description = json.loads(text or "{}")
        columns = tuple(_column(column) for column in description["columns"])
        key = next((tuple(key["columns"]) for key in description["keys"] if key["primary"]), ())
        unique = frozenset(key["columns"][0] for key in description["keys"] if len(key["columns"]) == 1)
        return Table(name, columns, key, frozenset() if description["has_children"] else unique)

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        return int(db.row(f"SELECT {self.micros('clock_timestamp()')}")[0] or 0) * 1000

    def late_commits(self, db: Database, wait_ms: int) -> LateCommits:
        return PostgresLateCommits(db, self, wait_ms)

    def next_number(self, db: Database, table: Table, column: str) -> int | None:
        rows = db.rows(_SEQUENCE, self.relation(table.name), column) if table.name else []
        if len(rows) != 1:
            return None
        name, step = rows[0]
        return int(db.row(f"SELECT last_value + CASE WHEN is_called THEN {step} ELSE 0 END FROM {name}")[0] or 0)

    def zones_of_writers(self, db: Database) -> list[str]:
        return [str(zone) for (zone,) in db.rows(_ZONES)]

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        name = column.type_name
        if name == "numeric":
            return numeric_kind(column, numeric_mapping)
        if name == "bit":
            return Kind.BOOLEAN if column.precision == 1 else None
        is_enum = name not in _KINDS and column.jdbc_type == types.VARCHAR
        return Kind.STRING if is_enum else _KINDS.get(name)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        name = self.quote(column.name)
        match kind:
            case Kind.WALL | Kind.INSTANT:
                finite = f"CASE WHEN {name} < '{_END}' THEN {self.micros(name)} ELSE {MISFIT} END"
                return _or_infinite(name, finite, _LAST_MICROS, "bigint"), "bigint"
            case Kind.DATE:
                return _or_infinite(name, f"{name} - DATE '1970-01-01'", _LAST_DAY, "int"), "int"
            case Kind.TIME if column.type_name == "timetz":
                return f"mod(floor(extract(epoch FROM {name}) * 1000)::bigint + 86400000, 86400000)", "bigint"
            case Kind.TIME:
                return f"floor(extract(epoch FROM {name}) * 1000)::bigint", "bigint"
            case Kind.STRING if column.type_name not in _PLAIN_TEXTS:
                return f"{name}::text", None
            case Kind.BOOLEAN if column.type_name == "bit":
                return f"{name} = B'1'", None
            case Kind.INT8 | Kind.INT16 | Kind.INT32 | Kind.INT64 if column.type_name in (
                "numeric",
                "oid",
            ):
                return f"{name}::bigint", None
            case Kind.FLOAT64 if column.type_name == "numeric":
                return f"{name}::float8", None
        return name, None

    def text(self, column: Column) -> str:
        return f"{self.quote(column.name)}::text"

    def micros(self, term: str) -> str:
        """Exact microseconds since 1970; 0.2 microseconds per value (measured), no more than any other exact way."""
        return f"(extract(epoch FROM {term}) * 1000000)::bigint"

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        zoned = any(column.type_name == "timestamptz" for column in columns)
        text = iso(nanoseconds, 6)
        return f"TIMESTAMPTZ '{text}+00'" if zoned else f"TIMESTAMP '{text}'"


def _or_infinite(name: str, term: str, last: int, type_: str) -> str:
    """PostgreSQL's infinity is the last moment that Connect's types can hold, minus infinity the first."""
    return (
        f"CASE WHEN isfinite({name}) THEN {term}"
        f" WHEN {name} > '1970-01-01' THEN {last}::{type_} WHEN {name} IS NOT NULL THEN -{last}::{type_} END"
    )


def _column(attribute: dict[str, Any]) -> Column:
    modifier, name = attribute["modifier"], attribute["type"]
    precision, scale = 0, 0
    if name == "numeric" and modifier >= 4:
        precision = modifier - 4 >> 16 & 0xFFFF
        scale = (modifier - 4 & 0x7FF ^ 1024) - 1024
    elif name in ("bit", "varbit"):
        precision = max(modifier, 0)
    elif name in ("varchar", "bpchar"):
        precision = max(modifier - 4, 0)
    return Column(
        name=attribute["name"],
        type_name=name,
        jdbc_type=types.VARCHAR if attribute["is_enum"] else 0,
        precision=precision,
        scale=scale,
        nullable=not attribute["not_null"],
        auto_increment=bool(attribute["counts"]),
        fraction=modifier if modifier >= 0 and name in ("timestamp", "timestamptz") else _FRACTION,
    )
