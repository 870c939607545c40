"""Any database with a JDBC driver, through JPype: its types, connections and errors."""

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
from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.databases.plain.loader import PlainLoader
from airflow_kconnect.connectors.jdbc.databases.plain.tables import PlainTables
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, PATH, Driver, driver_jars
from airflow_kconnect.connectors.jdbc.driver.urls import encryption_problem
from airflow_kconnect.connectors.jdbc.facts.condition import Condition, by_state
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader
from airflow_kconnect.credentials.refused_logins import login_refused

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame

_READ_COMMITTED = 2
"""`java.sql.Connection.TRANSACTION_READ_COMMITTED`"""


class PlainTarget(PlainTables):
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
        return PlainLoader(self, connection)

    def plain_type(self, kind: str, schema: ConnectSchema) -> str:
        return super().plain_type("STRING" if kind == "JSON" else kind, schema)

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


def _message(error: Any) -> str:
    """The first line, without the statement."""
    return first_line(error.getMessage() or error.getClass().getName()).partition("; SQL statement:")[0]


def without_values(state: str, number: int, text: str) -> str:
    """Texts of errors about values quote them: they may be secrets."""
    said = f"(SQL state {state}, error {number})"
    if state == "23505":
        return f"a row with that key exists already: use `insert.mode` upsert, or correct the keys {said}"
    if state == "23502":
        column = re.search(r"""[Cc]olumn:? ["']([^"']+)["']""", text)
        return f"column {column[1]} must not be null {said}" if column else f"a column must not be null {said}"
    if state.startswith("23"):
        return f"a constraint refuses the row: a key that exists already, a missing value, a check {said}"
    return f"a value does not fit into its column {said}"
