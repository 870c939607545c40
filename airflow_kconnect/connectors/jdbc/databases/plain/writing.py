"""Any database with a JDBC driver, through JPype: portable statements, and what JDBC's metadata report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema
from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RefusedError,
    RetriableError,
    first_line,
)
from airflow_kconnect.connect.logins import login_refused
from airflow_kconnect.connectors.jdbc.databases.plain.binding import Bind, binder
from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.databases.registry import database_of
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, PATH, Driver, driver_jars
from airflow_kconnect.connectors.jdbc.driver.urls import encryption_problem
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.connectors.jdbc.sink.rows_target import Statement, StatementsTarget
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader
from airflow_kconnect.connectors.jdbc.source.conditions import Condition, by_state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame

_READ_COMMITTED = 2
"""`java.sql.Connection.TRANSACTION_READ_COMMITTED`"""
_VARCHAR = 12
"""`java.sql.Types.VARCHAR`"""


class PlainTarget(StatementsTarget):
    """Types are those of the SQL standard, in lengths that most databases take."""

    driver = "jpype"
    extra = "jpype"
    placeholder = "?"
    changes_race = True
    key_text = "VARCHAR(256)"
    offset_types = ("VARCHAR(255)", "BIGINT")
    types = {
        "INT8": "SMALLINT",
        "INT16": "SMALLINT",
        "INT32": "INTEGER",
        "INT64": "BIGINT",
        "FLOAT32": "REAL",
        "FLOAT64": "DOUBLE PRECISION",
        "BOOLEAN": "BOOLEAN",
        "STRING": "VARCHAR(4000)",
        "BYTES": "BLOB",
        DECIMAL: "DECIMAL(31,{scale})",
        DATE: "DATE",
        TIME: "TIME",
        TIMESTAMP: "TIMESTAMP",
    }
    moments_are_texts = False
    """Whether the driver takes moments as texts only."""

    def __init__(self, settings: SinkSettings) -> None:
        super().__init__(settings)
        assert settings.driver is not None
        self._driver: Driver = settings.driver
        self._jars: tuple[Path, ...] | None = None

    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        from airflow_kconnect.connectors.jdbc.sink.cells import driver_value
        from airflow_kconnect.connectors.jdbc.sink.rendering import columns

        self._share_jars(frame.df.sparkSession)
        return columns(frame, self.settings, driver_value, self.is_native)

    def _share_jars(self, spark: SparkSession) -> None:
        """Executors on other machines get the jars as files of the application."""
        context = spark.sparkContext
        for jar in () if context._jsc.isLocal() else self._local_jars():
            context.addFile(str(jar))

    def _local_jars(self) -> tuple[Path, ...]:
        if self._jars is None:
            self._jars = tuple(driver_jars(self._driver))
        return tuple(map(jar_here, self._jars))

    def connect_once(self, run: str) -> Connection:
        from airflow_kconnect.connectors.jdbc.driver import jvm

        try:
            driver = jvm.new_driver(self._driver.class_name, self._local_jars())
        except ConfigError as error:
            raise ConfigError(error.errors, self.settings.connector) from None
        java = driver.connect(self.settings.url.text, self._properties())
        if java is None:
            problem = f"{self._driver.class_name} does not know the URL {self.settings.url.shown}"
            raise ConfigError({CLASS: [problem]}, self.settings.connector)
        connection = JdbcConnection(java)
        try:
            self._prepare(java)
        except BaseException:
            connection.close()
            raise
        return connection

    def _properties(self) -> Any:
        from jpype import JClass

        properties: Any = JClass("java.util.Properties")()
        given = {"user": self.settings.user, "password": self.settings.password}
        for name, text in given.items():
            if text is not None:
                properties.setProperty(name, text)
        return properties

    def _prepare(self, java: Any) -> None:
        """:raises ConfigError: it does not do what the sink relies on."""
        settings, url = self.settings, self.settings.url.shown
        metadata = java.getMetaData()
        if settings.offsets_table and not metadata.supportsTransactions():
            problem = f"cannot be used: {url} has no transactions; set an empty name: then writing is at least once"
            raise ConfigError({"offsets.table": [problem]}, settings.connector)
        mark = str(metadata.getIdentifierQuoteString()).strip()
        if mark != settings.naming.mark:
            problem = f"{url} quotes names with {mark or 'nothing'}, and the sink with {settings.naming.mark}"
            raise ConfigError({"connection.url": [f"{problem}: it cannot write there"]}, settings.connector)
        java.setAutoCommit(False)
        if metadata.supportsTransactionIsolationLevel(_READ_COMMITTED):
            java.setTransactionIsolation(_READ_COMMITTED)

    def loader(self, connection: Connection) -> Loader:
        from airflow_kconnect.connectors.jdbc.databases.plain.loader import PlainLoader

        return PlainLoader(self, connection)

    def binders(self, connection: JdbcConnection, table: Table, layout: RowLayout) -> dict[str, Bind]:
        """What sets parameters for the columns of a layout, by their names."""
        from airflow_kconnect.connectors.jdbc.sink.cells import kind_of

        types = {self.same_name(name): int(type_) for name, type_ in self._columns(connection, table)}
        return {
            column.name: binder(
                kind_of(column, self.settings),
                types.get(self.same_name(column.name), _VARCHAR),
                moments_are_texts=self.moments_are_texts,
            )
            for column in layout.columns
        }

    def plain_type(self, kind: str, schema: ConnectSchema) -> str:
        return super().plain_type("STRING" if kind == "JSON" else kind, schema)

    def merge(self, table: Table, layout: RowLayout) -> Statement | None:
        """An upsert of one row as a statement; None: the database has none, or none that is known here."""
        return None

    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
        return [name for name, _ in self._columns(connection, table)] or None

    def _columns(self, connection: JdbcConnection, table: Table) -> list[tuple[str, int]]:
        """Names, and types of `java.sql.Types`."""
        catalog, schema, name = self._qualified(connection, table)
        rows = connection.metadata(
            lambda metadata: metadata.getColumns(
                catalog, _pattern(metadata, schema), _pattern(metadata, name), None
            ),
            *("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE"),
        )  # fmt: skip
        wanted = (catalog, schema, name)
        return [(row[3], row[4]) for row in rows if all(map(self._same, wanted, row[:3]))]

    def unique_keys(self, connection: JdbcConnection, table: Table) -> list[set[str]]:
        """The columns of the primary key and of each unique index."""
        qualified = self._qualified(connection, table)
        keys: dict[str, set[str]] = {}
        for (column,) in connection.metadata(lambda metadata: metadata.getPrimaryKeys(*qualified), "COLUMN_NAME"):
            keys.setdefault("", set()).add(self.same_name(column))
        # Approximate numbers of rows do: exact ones would be counted.
        for index, column in connection.metadata(
            lambda metadata: metadata.getIndexInfo(*qualified, True, True), "INDEX_NAME", "COLUMN_NAME"
        ):
            if column is not None:
                keys.setdefault(index, set()).add(self.same_name(column))
        return list(keys.values())

    def _qualified(self, connection: JdbcConnection, table: Table) -> tuple[str | None, str | None, str]:
        """Catalog, schema and name; what the name leaves out is the connection's."""
        *above, name = table
        catalog, schema = [None, None, *above][-2:]
        java = connection.java
        return catalog or _text(java.getCatalog()), schema or _text(java.getSchema()), name

    def _same(self, wanted: str | None, actual: str | None) -> bool:
        return wanted is None or actual is None or self.same_name(wanted) == self.same_name(actual)

    def translated(self, error: Exception) -> ConnectError | None:
        from jpype import JClass, JException

        if not isinstance(error, JException):
            return None
        settings = self.settings
        if not isinstance(error, JClass("java.sql.SQLException")):
            return DataError(f"the JDBC driver has failed: {_message(error)}")
        state, number, condition = self._meaning(error)
        text = f"{_message(error)} (SQL state {state or 'unknown'}, error {number})"
        match condition:
            case Condition.LOGIN:
                return login_refused(settings.url.shown, settings.user, _message(error), settings.connector)
            case Condition.DATABASE:
                return ConfigError({"connection.url": [f"{settings.url.shown}: {text}"]}, settings.connector)
            case Condition.PASSING:
                if problem := encryption_problem(text):
                    return ConfigError({"connection.url": [f"{settings.url.shown}: {problem}"]}, settings.connector)
                return RetriableError(f"the database is unavailable or busy: {text}")
            case Condition.READ_ONLY:
                return RetriableError(f"the database takes no writes now: {text}")
            case Condition.ROW:
                return RefusedError(without_values(state, number, text))
        return DataError(text)

    def _meaning(self, error: Any) -> tuple[str, int, Condition]:
        """State, number and meaning; of the errors of a batch, those of the first one that says something."""
        known = database_of(self.settings.url.subprotocol).condition
        meanings: list[tuple[str, int, Condition]] = []
        while error is not None and len(meanings) < 10:
            state, number = str(error.getSQLState() or ""), int(error.getErrorCode())
            meanings.append((state, number, known(number, str(error.getMessage())) or by_state(state)))
            error = error.getNextException()
        return next((each for each in meanings if each[2] is not Condition.LASTING), meanings[0])


def jar_here(jar: Path) -> Path:
    """The jar on this machine.

    :raises ConfigError: this machine has none.
    """
    if jar.is_file():
        return jar
    from pyspark import SparkFiles

    shared = Path(SparkFiles.get(jar.name))
    if not shared.is_file():
        raise ConfigError({PATH: [f"{jar} is not a file on the machine of a Spark executor"]})
    return shared


def _pattern(metadata: Any, name: str | None) -> str | None:
    """A pattern that matches a name, and maybe others: not all drivers can escape an underscore."""
    escape = str(metadata.getSearchStringEscape() or "")
    if name is None or not escape:
        return name
    return re.sub(rf"[%_{re.escape(escape)}]", lambda match: escape + match[0], name)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _message(error: Any) -> str:
    """The first line, without the statement."""
    return first_line(error.getMessage() or error.getClass().getName()).partition("; SQL statement:")[0]


def without_values(state: str, number: int, text: str) -> str:
    """Texts of errors about values quote them: they may be secrets."""
    said = f"(SQL state {state}, error {number})"
    if state == "23505":
        return f"a row with that key exists already: use `insert.mode` upsert, or correct the keys {said}"
    if state == "23502":
        column = re.search(r"""[Cc]olumn ["']([^"']+)["']""", text)
        return f"column {column[1]} must not be null {said}" if column else f"a column must not be null {said}"
    if state.startswith("23"):
        return f"a constraint refuses the row: a key that exists already, a missing value, a check {said}"
    return f"a value does not fit into its column {said}"
