"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RefusedError, RetriableError
from airflow_kconnect.connectors.jdbc.sink_config import UTC
from airflow_kconnect.connectors.jdbc.sink_layouts import Layout
from airflow_kconnect.connectors.jdbc.sink_names import Table
from airflow_kconnect.connectors.jdbc.targets.rows_loader import RowsTarget, first_line
from airflow_kconnect.connectors.jdbc.targets.target import Connection
from airflow_kconnect.connectors.jdbc.urls import encryption_problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

# https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
_LOGIN = (1045, 1698)
_NO_DATABASE = (1044, 1049)
_PASSING = (1020, 1021, 1040, 1053, 1080, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1226, 1290, 3024, 4031)
_DUPLICATE = (1062, 1586)
_NULL = (1048, 1364)
_MISFIT = (1264, 1265, 1292, 1366, 1406, 3140, 4025)
_REFUSED = (*_DUPLICATE, *_NULL, *_MISFIT, 1216, 1452, 3819)
"""Errors for what is in a row; the last ones are of foreign keys and checks."""
_CHANGES_LOCK = "kconnect changes tables"


class MySqlTarget(RowsTarget):
    """MySQL 8 and MariaDB 10.5, and later ones."""

    driver = "pymysql"
    mark = "`"
    key_text = "VARCHAR(256)"
    max_name_bytes = 64
    max_parts = 2
    # Names of connectors and topics differ by case.
    offset_types = ("VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "BIGINT")
    types = {
        "INT8": "TINYINT",
        "INT16": "SMALLINT",
        "INT32": "INT",
        "INT64": "BIGINT",
        "FLOAT32": "FLOAT",
        "FLOAT64": "DOUBLE",
        "BOOLEAN": "TINYINT",
        "STRING": "TEXT",
        "BYTES": "VARBINARY(1024)",
        DECIMAL: "DECIMAL(65,{scale})",
        DATE: "DATE",
        TIME: "TIME(3)",
        TIMESTAMP: "DATETIME(3)",
    }

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[Layout, ...]]:
        from airflow_kconnect.connectors.jdbc.sink_cells import driver_value
        from airflow_kconnect.connectors.jdbc.sink_rendering import columns

        return columns(frame, self.settings, driver_value)

    def connect_once(self, run: str) -> Connection:
        import pymysql
        from pymysql.constants import CLIENT

        settings, url = self.settings, self.settings.url
        connection = pymysql.connect(
            host=url.host or "localhost",
            port=url.port or 3306,
            database=url.database or None,
            user=settings.user,
            password=settings.password or "",
            charset="utf8mb4",
            connect_timeout=10,
            # An update counts the rows that it finds, also those that it does not change.
            client_flag=CLIENT.FOUND_ROWS,
            **self._encryption(),
        )
        cursor = connection.cursor()
        # What does not fit is an error, and never cut.
        cursor.execute("SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_ALL_TABLES')")
        # Who waits longer for another session's lock gives up, and the run is tried again.
        cursor.execute("SET SESSION lock_wait_timeout = 300")
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        cursor.execute("SET SESSION time_zone = %s", ("+00:00" if settings.time_zone in UTC else settings.time_zone,))
        connection.commit()
        return connection

    def _encryption(self) -> dict[str, Any]:
        """By ``sslMode`` of the URL, as both JDBC drivers name it; without it, if the server can.

        :raises ConfigError: there are no such certificates.
        """
        given = {name.lower(): value for name, value in self.settings.url.params.items()}
        mode = given.get("sslmode", "PREFERRED").upper().replace("-", "_")
        if mode in ("DISABLE", "DISABLED"):
            return {"ssl_disabled": True}
        if mode == "PREFERRED":
            return {}
        file = given.get("serversslcert") or given.get("sslca")
        try:
            context = ssl.create_default_context(cafile=file)
        except OSError as error:
            problem = f"{self.settings.url.shown}: certificates cannot be read from {file}: {error.strerror or error}"
            raise ConfigError({"connection.url": [problem]}, self.settings.connector) from None
        if mode not in ("VERIFY_FULL", "VERIFY_IDENTITY"):
            context.check_hostname = False
        if mode in ("REQUIRED", "TRUST"):
            context.verify_mode = ssl.CERT_NONE
        return {"ssl": context}

    def found_columns(self, connection: Connection, table: Table) -> list[str] | None:
        *schema, name = table
        cursor = connection.cursor()
        cursor.execute(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s",
            (schema[0] if schema else None, name),
        )
        return [row[0] for row in cursor.fetchall()] or None

    @contextmanager
    def changing(self, connection: Connection) -> Iterator[None]:
        cursor = connection.cursor()
        cursor.execute("SELECT GET_LOCK(%s, 300)", (_CHANGES_LOCK,))
        try:
            yield
        finally:
            cursor.execute("SELECT RELEASE_LOCK(%s)", (_CHANGES_LOCK,))

    def same_name(self, name: str) -> str:
        return name.lower()

    def on_conflict(self, layout: Layout) -> str:
        names = layout.others or layout.keys[:1]
        return "ON DUPLICATE KEY UPDATE " + ", ".join(f"{q} = VALUES({q})" for q in map(self.quote, names))

    def truth(self, value: bool) -> str:
        return str(int(value))

    def text_literal(self, text: str) -> str:
        return super().text_literal(text.replace("\\", "\\\\"))

    def translated(self, error: Exception) -> ConnectError | None:
        import pymysql

        if not isinstance(error, pymysql.Error):
            return None
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        text = str(error.args[1]) if len(error.args) > 1 else first_line(error)
        settings = self.settings
        if code in _LOGIN:
            refused = f"user {settings.user} was refused by {settings.url.shown}"
            return ConfigError({"connection.password": [refused]}, settings.connector)
        if code in _NO_DATABASE:
            return ConfigError({"connection.url": [f"{settings.url.shown}: {first_line(text)}"]}, settings.connector)
        if 2000 <= code < 3000 and (problem := encryption_problem(first_line(text))):
            return ConfigError({"connection.url": [f"{settings.url.shown}: {problem}"]}, settings.connector)
        if code == 1298:
            unknown = f"{settings.time_zone} is not known to the database: load its time zone tables, or use UTC"
            return ConfigError({"db.timezone": [unknown]}, settings.connector)
        if code in _PASSING or 2000 <= code < 3000 or not code:
            return RetriableError(f"the database is unavailable or busy: {first_line(text)}")
        return (RefusedError if code in _REFUSED else DataError)(_what(code, text))


def _what(code: int, text: str) -> str:
    """Texts of errors about values quote them: they may be secrets."""
    column = re.search(r"[Cc]olumn '([^']*)'|[Ff]ield '([^']*)'", text)
    named = f"column {column[1] or column[2]}" if column else "a column"
    if code in _DUPLICATE:
        return "a row with that key exists already: use `insert.mode` upsert, or correct the keys"
    if code in _NULL:
        return f"{named} must not be null, and a record has no value for it"
    if code in _MISFIT:
        return f"a value does not fit into {named} (error {code})"
    return f"{first_line(text)} (error {code})"
