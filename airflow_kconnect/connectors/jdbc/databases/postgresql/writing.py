"""PostgreSQL: rows come by COPY, straight into the table, or into a temporary one that is merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.sink import BatchRenderer
from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.jdbc.databases.postgresql.errors import translated
from airflow_kconnect.connectors.jdbc.databases.postgresql.loader import LOCK_TIMEOUT, PostgresLoader
from airflow_kconnect.connectors.jdbc.databases.postgresql.plain_rows import plain_rows
from airflow_kconnect.connectors.jdbc.facts.postgresql import POSTGRESQL
from airflow_kconnect.connectors.jdbc.sink.config import AS_COLUMNS
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

_SSL = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl")
_SESSION = {
    # A COPY stays open while Spark makes its rows: these would end it.
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": LOCK_TIMEOUT,
    # Else a backslash could end the literal of a default, which is text of a record's schema.
    "standard_conforming_strings": "on",
    "temp_buffers": "64MB",
    "work_mem": "64MB",
}
_CHANGES_LOCK = 0x6B636F6E6E656374
"""Key of the advisory lock for changing tables: "kconnect"."""


class PostgresTarget(Target):
    """PostgreSQL 12 and later, through psycopg."""

    driver = "psycopg"
    max_name_bytes = 63
    types = {
        "INT8": "SMALLINT",
        "INT16": "SMALLINT",
        "INT32": "INT",
        "INT64": "BIGINT",
        "FLOAT32": "REAL",
        "FLOAT64": "DOUBLE PRECISION",
        "BOOLEAN": "BOOLEAN",
        "STRING": "TEXT",
        "BYTES": "BYTEA",
        DECIMAL: "DECIMAL",
        DATE: "DATE",
        TIME: "TIME",
        TIMESTAMP: "TIMESTAMP",
        "JSON": "JSONB",
    }

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        from airflow_kconnect.connectors.jdbc.databases.postgresql.cells import copy_value
        from airflow_kconnect.connectors.jdbc.sink.rendering import columns

        return columns(frame, self.settings, copy_value, self.is_native, share=True)

    def is_native(self, schema: ConnectSchema) -> bool:
        return schema.type.is_primitive or (
            self.settings.nested == AS_COLUMNS
            and schema.value_schema is not None
            and schema.type is SchemaType.ARRAY
            and schema.value_schema.type.is_primitive
        )

    def native_type(self, schema: ConnectSchema) -> str:
        if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
            return f"{super().native_type(schema.value_schema)}[]"
        return super().native_type(schema)

    def plain_rows(
        self, keys: Sequence[Shape], values: Sequence[Shape]
    ) -> tuple[BatchRenderer, tuple[RowLayout, ...]] | None:
        return plain_rows(self.settings, keys, values)

    def connect_once(self, run: str) -> Connection:
        import psycopg

        settings, url = self.settings, self.settings.url
        given = {name.lower(): value for name, value in url.params.items()}
        ssl: dict[str, Any] = {name: given[name] for name in _SSL if name in given}
        if given.get("ssl", "").lower() == "true":
            ssl.setdefault("sslmode", "verify-full")
        connection = psycopg.connect(
            host=url.host or "localhost",
            port=url.port or POSTGRESQL.port,
            dbname=url.database or settings.user,
            user=settings.user,
            password=settings.password,
            application_name=_session_name(run),
            connect_timeout=int(given.get("connecttimeout", 10)),
            client_encoding="UTF8",
            prepare_threshold=None,
            **ssl,
        )
        schema = {"search_path": given["currentschema"]} if "currentschema" in given else {}
        for name, value in {**_SESSION, **schema}.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        connection.commit()
        return connection

    def loader(self, connection: Connection) -> Loader:
        return PostgresLoader(self, connection)

    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
        name = self.quoted(table)
        if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0] is None:
            return None
        wanted = "attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
        return [row[0] for row in connection.execute(f"SELECT attname FROM pg_attribute WHERE {wanted}", (name,))]

    def translated(self, error: Exception) -> ConnectError | None:
        return translated(error, self.settings)

    @contextmanager
    def changing(self, connection: Connection) -> Iterator[None]:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CHANGES_LOCK,))
        yield

    def end_sessions(self, connection: Connection, runs: Sequence[str]) -> None:
        names = [_session_name(run) for run in runs if run]
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ANY(%s) "
            "AND usename = current_user AND pid <> pg_backend_pid()",
            (names,),
        )


def _session_name(run: str) -> str:
    return f"kconnect-{run}" if run else "kconnect"
