"""SQLite, through Python's own module: one split writes at a time, the others wait for it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RefusedError,
    RetriableError,
    first_line,
)
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.sqlite import by_result
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.connectors.jdbc.sink.rows_target import RowsTarget
from airflow_kconnect.connectors.jdbc.sink.target import Connection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

_PATIENCE_S = 600.0


class SqliteTarget(RowsTarget):
    """A file that the driver and all executors see."""

    driver = "sqlite3"
    placeholder = "?"
    ddl_on_own_connection = False
    max_parts = 2
    types = {
        **dict.fromkeys(("INT8", "INT16", "INT32", "INT64", "BOOLEAN"), "INTEGER"),
        **dict.fromkeys(("FLOAT32", "FLOAT64"), "REAL"),
        "STRING": "TEXT",
        "JSON": "TEXT",
        "BYTES": "BLOB",
        **dict.fromkeys((DECIMAL, DATE, TIME, TIMESTAMP), "NUMERIC"),
    }

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        from airflow_kconnect.connectors.jdbc.databases.sqlite.cells import sqlite_value
        from airflow_kconnect.connectors.jdbc.sink.rendering import columns

        return columns(frame, self.settings, sqlite_value, self.is_native)

    def connect_once(self, run: str) -> Connection:
        connection = sqlite3.connect(self.settings.url.database or "", timeout=_PATIENCE_S, isolation_level=None)
        # Python opens files when they are first used.
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        return connection

    def begin(self, connection: Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
        *schema, name = table
        arguments = ", ".join("?" * (1 + len(schema)))
        rows = connection.execute(f"SELECT name FROM pragma_table_info({arguments})", (name, *schema))
        return [row[0] for row in rows] or None

    def same_name(self, name: str) -> str:
        return name.lower()

    def on_conflict(self, layout: RowLayout) -> str:
        changes = ", ".join(f"{self.quote(name)} = excluded.{self.quote(name)}" for name in layout.others)
        return f"ON CONFLICT ({self.listed(layout.keys)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"

    def truth(self, value: bool) -> str:
        return str(int(value))

    def translated(self, error: Exception) -> ConnectError | None:
        if not isinstance(error, sqlite3.Error):
            return None
        text = first_line(error)
        match by_result(getattr(error, "sqlite_errorname", "")):
            case Condition.PASSING:
                return RetriableError(f"the database is busy or its disk full: {text}")
            case Condition.DATABASE:
                where = self.settings.url.database
                return ConfigError({"connection.url": [f"cannot use {where}: {text}"]}, self.settings.connector)
            case Condition.ROW if "UNIQUE" in text:
                return RefusedError(
                    f"a row with that key exists already ({text}): use `insert.mode` upsert, or correct the keys"
                )
            case Condition.ROW:
                return RefusedError(text)
        if "ON CONFLICT clause does not match" in text:
            return DataError("the table has no primary key or unique index over exactly the columns of the primary key")
        return DataError(text)
