"""A connection to the database in the driver: JDBC through the JVM that Spark runs in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError, first_line
from airflow_kconnect.connectors.jdbc.driver.urls import encryption_problem
from airflow_kconnect.connectors.jdbc.facts.condition import Condition, by_state
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.credentials.refused_logins import login_refused

Row = tuple[str | None, ...]

_TIMESTAMP_TYPE = 93


@dataclass(frozen=True)
class Account:
    """A database as messages name it, without secrets.

    :param connector: name of the connector.
    :param subprotocol: of the URL: errors have numbers of the database's own.
    """

    connector: str
    shown: str
    subprotocol: str
    user: str | None = None

    @property
    def label(self) -> str:
        """Names the connector and the database."""
        return f"connector {self.connector}: {self.shown}"


class Database:
    """One connection, used by one thread. Every method raises errors of airflow_kconnect only.

    :param connect: makes a `java.sql.Connection`; raises what py4j raises.
    """

    def __init__(self, connect: Callable[[], Any], account: Account) -> None:
        self._account, self.label = account, account.label
        self._connection = self._guarded("connecting", connect)

    def rows(self, sql: str, *parameters: str | int) -> list[Row]:
        """The rows of a query, every value as text; timestamps in ISO form, as they are on the wall.

        :param parameters: bound to the question marks.
        """
        rows: list[Row] = self._guarded("reading", lambda: self._rows(sql, parameters))
        return rows

    def _rows(self, sql: str, parameters: Sequence[str | int]) -> list[Row]:
        statement = self._connection.prepareStatement(sql)
        try:
            for index, value in enumerate(parameters, 1):
                if isinstance(value, int):
                    statement.setLong(index, value)
                else:
                    statement.setString(index, value)
            result = statement.executeQuery()
            meta = result.getMetaData()
            indices = range(1, meta.getColumnCount() + 1)
            timestamps = {index for index in indices if meta.getColumnType(index) == _TIMESTAMP_TYPE}
            rows = []
            while result.next():
                rows.append(tuple(_text(result, index, index in timestamps) for index in indices))
            return rows
        finally:
            statement.close()

    def row(self, sql: str, *parameters: str | int) -> Row:
        """The only row of a query."""
        rows = self.rows(sql, *parameters)
        if len(rows) != 1:
            raise DataError(f"{self.label}: {len(rows)} rows instead of one; was a table dropped meanwhile?")
        return rows[0]

    def execute(self, sql: str) -> None:
        """Run a statement that returns nothing."""

        def run() -> None:
            statement = self._connection.createStatement()
            try:
                statement.execute(sql)
            finally:
                statement.close()

        self._guarded("preparing", run)

    def described(self, what: str, ask: Callable[[Any], Any]) -> Any:
        """Ask the JDBC connection itself (its metadata).

        :param what: what is being done, for messages.
        """
        return self._guarded(what, lambda: ask(self._connection))

    def close(self) -> None:
        """Close the connection; what it had open ends. Never raises."""
        from py4j.protocol import Py4JError

        try:
            self._connection.close()
        except (Py4JError, OSError):
            return

    def _guarded(self, what: str, action: Callable[[], Any]) -> Any:
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            return action()
        except Py4JJavaError as error:
            raise database_error(self._account, what, error.java_exception) from None
        except (Py4JError, OSError) as error:
            raise RetriableError(f"{self.label}: {what} failed, Spark's JVM does not answer: {error}") from None


def _text(result: Any, index: int, is_timestamp: bool) -> str | None:
    value = _local_date_time(result, index) if is_timestamp else result.getString(index)
    return None if value is None else str(value.toString() if is_timestamp else value)


def _local_date_time(result: Any, index: int) -> Any:
    """A `java.time.LocalDateTime`, or null."""
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    try:
        return result.getObject(index, gateway.jvm.java.lang.Class.forName("java.time.LocalDateTime"))
    except Py4JJavaError:
        # Some drivers have only this older way, which moves times that the zone of the JVM leaves out by an hour.
        value = result.getTimestamp(index)
        return None if value is None else value.toLocalDateTime()


def database_error(account: Account, what: str, exception: Any) -> ConnectError:
    """The error for a Java exception: a wrong password is the user's, an unavailable database no one's fault."""
    label = account.label
    message = first_line(exception.getMessage() or exception.getClass().getName())
    sql_exception = _sql_exception(exception)
    if sql_exception is None:
        return DataError(f"{label}: {what} failed: {message}")
    state = str(sql_exception.getSQLState() or "")
    match database_of(account.subprotocol).condition(int(sql_exception.getErrorCode()), message) or by_state(state):
        case Condition.LOGIN:
            return login_refused(account.shown, account.user, message, account.connector)
        case Condition.DATABASE:
            return ConfigError({"connection.url": [f"{label}: {message}"]})
        case Condition.RIGHTS:
            return ConfigError({"connection.user": [f"{label}: {what}: {message}: grant it, or exclude the table"]})
        case Condition.PASSING:
            if state.startswith("08") and (problem := encryption_problem(message)):
                return ConfigError({"connection.url": [f"{label}: {problem}"]})
            return RetriableError(f"{label}: {what} failed, the database is unavailable or busy: {message}")
    return DataError(f"{label}: {what} failed: {message}" + (f" (SQL state {state})" if state else ""))


def _sql_exception(exception: Any) -> Any:
    """The exception or its cause, whichever is one of SQL; Java wraps some in others."""
    for _ in range(5):
        if exception is None or (hasattr(exception, "getSQLState") and _is_sql(exception)):
            return exception
        exception = exception.getCause()
    return None


def _is_sql(exception: Any) -> bool:
    cls = exception.getClass()
    while cls is not None:
        if cls.getName() == "java.sql.SQLException":
            return True
        cls = cls.getSuperclass()
    return False
