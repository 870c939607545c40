"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RefusedError,
    RetriableError,
    first_line,
)
from airflow_kconnect.connectors.jdbc.driver.urls import encryption_problem
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.mysql import DUPLICATE, MISFIT, NULL, by_number
from airflow_kconnect.connectors.jdbc.facts.mysql import MYSQL
from airflow_kconnect.connectors.jdbc.sink.config import UTC
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.rows_target import RowsLoader, RowsTarget
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader
from airflow_kconnect.credentials.refused_logins import login_refused

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

# MySQL names a column as 'c', MariaDB also as `database`.`table`.`c`.
_COLUMN = re.compile(r"(?:[Cc]olumn|[Ff]ield) (?:'([^']*)'|(?:`[^`]*`\.)*`([^`]*)`)")
_WRONG_VALUE = 1366
_CHARACTERS = ": its character set does not have all characters of the text; utf8mb4 has them"
_CHANGES_LOCK = "kconnect changes tables"
_CHANGES_PATIENCE_S = 300
_PACKET_HEAD = 16


class MySqlLoader(RowsLoader):
    """Looks for rows that are too large for the server, which would only end the connection."""

    _packet_bytes = 0

    def execute(self, cursor: Any, statement: str, values: Sequence[Sequence[Any]], size: int) -> None:
        limit = self._packet_limit()
        for row in values if 2 * size + len(statement) >= limit else ():
            # Where each byte is escaped it has two.
            if 2 * sum(map(_bytes_of, row)) + len(statement) < limit:
                continue
            size_bytes = len(cursor.mogrify(statement, row).encode("utf-8", "surrogateescape"))
            if size_bytes > limit:
                raise RefusedError(
                    f"a row is a statement of {size_bytes} bytes, and the server's max_allowed_packet is"
                    f" {self._packet_bytes}: raise it there"
                )
        cursor.max_stmt_length = min(cursor.max_stmt_length, limit)
        super().execute(cursor, statement, values, size)

    def _packet_limit(self) -> int:
        if not self._packet_bytes:
            cursor = self._connection.cursor()
            cursor.execute("SELECT @@max_allowed_packet")
            self._packet_bytes = int(cursor.fetchone()[0])
        return self._packet_bytes - _PACKET_HEAD


class MySqlTarget(RowsTarget):
    """MySQL 8 and MariaDB 10.5, and later ones."""

    driver = "pymysql"
    key_text = "VARCHAR(256)"
    max_name_bytes = 64
    max_parts = 2
    # Names of connectors and topics differ by case.
    offset_types = ("VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "BIGINT")
    offset_options = " ENGINE=InnoDB"
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
        "JSON": "JSON",
    }

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        from airflow_kconnect.connectors.jdbc.sink.cells import driver_value
        from airflow_kconnect.connectors.jdbc.sink.rendering import columns

        return columns(frame, self.settings, driver_value, self.is_native)

    def connect_once(self, run: str) -> Connection:
        import pymysql
        from pymysql.constants import CLIENT

        settings, url = self.settings, self.settings.url
        connection = pymysql.connect(
            host=url.host or "localhost",
            port=url.port or MYSQL.port,
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

    def loader(self, connection: Connection) -> Loader:
        return MySqlLoader(self, connection)

    def check_table(self, connection: Connection, table: Table) -> None:
        if not self.settings.offsets_table:
            return
        *schema, name = table
        cursor = connection.cursor()
        cursor.execute(
            "SELECT t.engine FROM information_schema.tables AS t JOIN information_schema.engines AS e "
            "ON e.engine = t.engine WHERE t.table_schema = COALESCE(%s, DATABASE()) AND t.table_name = %s "
            "AND e.transactions = 'NO'",
            (schema[0] if schema else None, name),
        )
        if row := cursor.fetchone():
            cure = "convert it to InnoDB, or set an empty name: then writing is at least once"
            problem = f"cannot be used: {shown(table)} has the engine {row[0]}, which has no transactions; {cure}"
            raise ConfigError({"offsets.table": [problem]}, self.settings.connector)

    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
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
        cursor.execute("SELECT GET_LOCK(%s, %s)", (_CHANGES_LOCK, _CHANGES_PATIENCE_S))
        if cursor.fetchone()[0] != 1:
            raise RetriableError(
                f"another session has been changing tables for {_CHANGES_PATIENCE_S} s: it holds lock {_CHANGES_LOCK}"
            )
        try:
            yield
        finally:
            cursor.execute("SELECT RELEASE_LOCK(%s)", (_CHANGES_LOCK,))

    def same_name(self, name: str) -> str:
        return name.lower()

    def on_conflict(self, layout: RowLayout) -> str:
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
        if 2000 <= code < 3000 and (problem := encryption_problem(first_line(text))):
            return ConfigError({"connection.url": [f"{settings.url.shown}: {problem}"]}, settings.connector)
        if code == 1298:
            unknown = f"{settings.time_zone} is not known to the database: load its time zone tables, or use UTC"
            return ConfigError({"db.timezone": [unknown]}, settings.connector)
        match by_number(code) if code else Condition.PASSING:
            case Condition.LOGIN:
                return login_refused(settings.url.shown, settings.user, text, settings.connector)
            case Condition.DATABASE:
                where = f"{settings.url.shown}: {first_line(text)}"
                return ConfigError({"connection.url": [where]}, settings.connector)
            case Condition.PASSING:
                return RetriableError(f"the database is unavailable or busy: {first_line(text)}")
            case Condition.READ_ONLY:
                return RetriableError(
                    f"the database takes no writes now, maybe it is an old primary: {first_line(text)}"
                )
            case Condition.ROW:
                return RefusedError(_what(code, text))
        return DataError(_what(code, text))


def _what(code: int, text: str) -> str:
    """Texts of errors about values quote them: they may be secrets."""
    columns = _COLUMN.findall(text)
    # The value is quoted before the column, and could look like one.
    named = f"column {''.join(columns[-1])}" if columns else "a column"
    if code in DUPLICATE:
        return "a row with that key exists already: use `insert.mode` upsert, or correct the keys"
    if code in NULL:
        return f"{named} must not be null, and a record has no value for it"
    if code in MISFIT:
        hint = _CHARACTERS if code == _WRONG_VALUE and text.startswith("Incorrect string value") else ""
        return f"a value does not fit into {named} (error {code}){hint}"
    return f"{first_line(text)} (error {code})"


def _bytes_of(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    return len(value) if isinstance(value, bytes) else _PACKET_HEAD
