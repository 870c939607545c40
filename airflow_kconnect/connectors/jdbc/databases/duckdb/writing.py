"""DuckDB, through its Python package, which reads Arrow in place: one split writes at a time, the others wait."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RefusedError,
    RetriableError,
    first_line,
)
from airflow_kconnect.connectors.jdbc.databases.duckdb.members import has_empty_struct, members, schema_members
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.duckdb import by_kind, is_locked
from airflow_kconnect.connectors.jdbc.sink.config import AS_COLUMNS, INSERT, UPDATE
from airflow_kconnect.connectors.jdbc.sink.definitions import MemberPath
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader, Target

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from duckdb.sqltypes import DuckDBPyType
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

_PATIENCE_S = 600.0
_ROWS = "kconnect_rows"


class DuckDbConnection:
    """A connection of PEP 249: a cursor of DuckDB's own is a connection with a transaction of its own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def cursor(self) -> DuckDbConnection:
        return self

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> DuckDbConnection:
        self._connection.execute(sql, list(parameters) or None)
        return self

    @property
    def rowcount(self) -> int:
        """Of the last statement that changed rows."""
        return self._connection.rowcount

    def fetchone(self) -> Any:
        return self._connection.fetchone()

    def fetchall(self) -> list[Any]:
        return self._connection.fetchall()

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        self._connection.rollback()

    def column_types(self, table: str) -> list[tuple[str, DuckDBPyType]]:
        """Names and types of the columns of a quoted table."""
        self._connection.execute(f"SELECT * FROM {table} LIMIT 0")
        return [(name, type_) for name, type_, *_ in self._connection.description or ()]

    def close(self) -> None:
        """What is not committed is undone."""
        self._connection.close()

    def register(self, rows: pa.RecordBatch) -> None:
        """Give rows to statements, as a table."""
        self._connection.register(_ROWS, rows)


class DuckDbLoader(Loader):
    """A statement for the rows of a batch; of several rows with the same key the last one counts."""

    _target: DuckDbTarget

    def __init__(self, target: Target, connection: Connection) -> None:
        super().__init__(target, connection)
        self._added: list[tuple[Table, int, RowLayout, pa.RecordBatch]] | None = None  # by attempts

    def add(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        self._write(table, part, layout, rows)
        if self._added is not None:
            self._added.append((table, part, layout, rows))

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """There are no savepoints: the transaction, which has just this batch, begins again without the attempt."""
        self._added = self._added or []
        before = len(self._added)
        try:
            yield
        except RefusedError:
            del self._added[before:]
            self._connection.rollback()
            self._target.begin(self._connection)
            for piece in self._added:
                self._write(*piece)
            raise

    def _write(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        import pyarrow as pa

        numbers = range(len(layout.names))
        cells = [rows.column(f"cell_{part}_{n}") for n in numbers]
        given = pa.record_batch([rows.column("kafka_offset"), *cells], names=["kafka_offset", *map(_given, numbers)])
        first = rows.column("kafka_offset")[0].as_py()
        with self._target.errors(f"table {shown(table)}, records from offset {first} on"):
            self._connection.register(given)
            self._connection.execute(self._target.statement(table, layout))

    def flush(self) -> None:
        pass


class DuckDbTarget(Target):
    """A file that the driver and all executors see; one process at a time has it open."""

    driver = "duckdb"
    placeholder = "?"
    has_savepoints = False
    max_parts = 2
    offset_types = ("VARCHAR", "BIGINT")
    types = {
        "INT8": "TINYINT",
        "INT16": "SMALLINT",
        "INT32": "INTEGER",
        "INT64": "BIGINT",
        "FLOAT32": "FLOAT",
        "FLOAT64": "DOUBLE",
        "BOOLEAN": "BOOLEAN",
        "STRING": "VARCHAR",
        "BYTES": "BLOB",
        DECIMAL: "DECIMAL(38,{scale})",
        DATE: "DATE",
        TIME: "TIME",
        TIMESTAMP: "TIMESTAMP",
        "JSON": "JSON",
    }
    key_text = "VARCHAR"
    extra = "duckdb"

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        from airflow_kconnect.connectors.jdbc.databases.duckdb.cells import duckdb_value
        from airflow_kconnect.connectors.jdbc.sink.rendering import columns

        return columns(frame, self.settings, duckdb_value, self.is_native)

    def is_native(self, schema: ConnectSchema) -> bool:
        return schema.type.is_primitive or (self.settings.nested == AS_COLUMNS and not has_empty_struct(schema))

    def native_type(self, schema: ConnectSchema) -> str:
        match schema.type:
            case SchemaType.STRUCT:
                members = (f"{self.quote(f.name)} {self.native_type(f.schema)}" for f in schema.fields)
                return f"STRUCT({', '.join(members)})"
            case SchemaType.ARRAY if schema.value_schema is not None:
                return f"{self.native_type(schema.value_schema)}[]"
            case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
                return f"MAP({self.native_type(schema.key_schema)}, {self.native_type(schema.value_schema)})"
        return super().native_type(schema)

    def connect_once(self, run: str) -> Connection:
        """Waits for other processes that have the file open."""
        import duckdb

        path, deadline = self.settings.url.database or "", time.monotonic() + _PATIENCE_S
        while True:
            try:
                return DuckDbConnection(duckdb.connect(path))
            except duckdb.IOException as error:
                if not is_locked(str(error)) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def begin(self, connection: Connection) -> None:
        connection.execute("BEGIN TRANSACTION")

    def loader(self, connection: Connection) -> Loader:
        return DuckDbLoader(self, connection)

    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
        *above, name = table
        catalog, schema = [None, None, *above][-2:]
        rows = connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE lower(table_name) = lower(?)"
            " AND lower(schema_name) = lower(coalesce(?, current_schema()))"
            " AND lower(database_name) = lower(coalesce(?, current_database())) ORDER BY column_index",
            (name, schema, catalog),
        )
        return [row[0] for row in rows.fetchall()] or None

    def existing_members(self, connection: Connection, table: Table) -> Iterable[MemberPath]:
        return (path for name, type_ in connection.column_types(self.quoted(table)) for path in members(type_, (name,)))

    def members_of(self, column: TableColumn) -> Mapping[MemberPath, ConnectSchema]:
        return dict(schema_members(column.schema, (column.name,))) if self.is_native(column.schema) else {}

    def add_member_statement(self, table: Table, column: TableColumn, path: MemberPath) -> str:
        name = ".".join(map(self.quote, path))
        return f"ALTER TABLE {self.quoted(table)} ADD COLUMN {name} {self.native_type(self.members_of(column)[path])}"

    def same_name(self, name: str) -> str:
        return name.lower()

    def statement(self, table: Table, layout: RowLayout) -> str:
        """What is done with the rows that the connection was given."""
        into, given = self.quoted(table), {name: f"r.{_given(n)}" for n, name in enumerate(layout.names)}
        equal = " AND ".join(f"{into}.{self.quote(name)} = {given[name]}" for name in layout.keys)
        last = f"SELECT * FROM {_ROWS}"
        if layout.keys:
            keys = ", ".join(given[name].removeprefix("r.") for name in layout.keys)
            last += f" QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY kafka_offset DESC) = 1"
        if layout.delete:
            return f"DELETE FROM {into} USING ({last}) r WHERE {equal}"
        mode = self.settings.insert_mode
        if mode == UPDATE:
            changes = ", ".join(f"{self.quote(name)} = {given[name]}" for name in layout.others or layout.keys)
            return f"UPDATE {into} SET {changes} FROM ({last}) r WHERE {equal}"
        values = ", ".join(given[name] for name in layout.names)
        insert = f"INSERT INTO {into} ({self.listed(layout.names)}) SELECT {values} FROM"
        if mode == INSERT:
            return f"{insert} {_ROWS} r ORDER BY r.kafka_offset"
        changes = ", ".join(f"{self.quote(name)} = excluded.{self.quote(name)}" for name in layout.others)
        action = f"UPDATE SET {changes}" if changes else "NOTHING"
        return f"{insert} ({last}) r ON CONFLICT ({self.listed(layout.keys)}) DO {action}"

    def translated(self, error: Exception) -> ConnectError | None:
        import duckdb

        if not isinstance(error, duckdb.Error):
            return None
        text = first_line(error)
        where = self.settings.url.database
        match by_kind(text):
            case Condition.PASSING:
                return RetriableError(f"the database is in use or its disk full: {text}")
            case Condition.DATABASE:
                return ConfigError({"connection.url": [f"cannot use {where}: {text}"]}, self.settings.connector)
            case Condition.ROW:
                return RefusedError(_without_values(text))
        if "not referenced by a UNIQUE/PRIMARY KEY" in text:
            return DataError("the table has no primary key or unique index over exactly the columns of the primary key")
        return DataError(text)


def _given(number: int) -> str:
    """The name of a column of the rows that a statement is given: names of columns could be equal to others."""
    return f"given_{number}"


def _without_values(text: str) -> str:
    """Texts of errors about values quote them: they may be secrets."""
    kind, _, what = text.partition(" Error: ")
    lower = what.lower()
    if "duplicate key" in lower:
        return "a row with that key exists already: use `insert.mode` upsert, or correct the keys"
    if lower.startswith(("not null", "check")):
        return what
    return f"a value does not fit into its column ({kind.lower()} error)"
