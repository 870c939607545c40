"""A connection of JDBC with the methods of PEP 249, as far as the sink needs them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from airflow_kconnect.connectors.jdbc.databases.plain.binding import Bind, set_value

_NO_COUNT = -2
"""JDBC's row count of a statement that has succeeded with an unknown number of rows."""


class JdbcConnection:
    """In a transaction.

    :param java: a `java.sql.Connection` that does not commit by itself.
    """

    def __init__(self, java: Any) -> None:
        self.java = java

    def cursor(self) -> JdbcCursor:
        return JdbcCursor(self.java)

    def commit(self) -> None:
        self.java.commit()

    def rollback(self) -> None:
        self.java.rollback()

    def close(self) -> None:
        """What is not committed is undone: some drivers would commit it. Never raises an error of the driver."""
        from jpype import JException

        with contextlib.suppress(JException):
            self.java.rollback()
        with contextlib.suppress(JException):
            self.java.close()

    def run(self, sql: str, binds: Sequence[Bind], rows: Sequence[Sequence[Any]], batch_rows: int) -> list[int | None]:
        """Run a statement for each row, in order; returns how many rows of the table each has changed, as far as known.

        :param binds: set the parameters, one for each value of a row.
        :param batch_rows: how many rows the driver gets at once, which it keeps in memory.
        """
        counts: list[int | None] = []
        statement = self.java.prepareStatement(sql)
        try:
            for first in range(0, len(rows), batch_rows):
                for row in rows[first : first + batch_rows]:
                    for number, (bind, value) in enumerate(zip(binds, row, strict=True), 1):
                        bind(statement, number, value)
                    statement.addBatch()
                counts += [None if count == _NO_COUNT else int(count) for count in statement.executeBatch()]
        finally:
            statement.close()
        return counts

    def run_once(self, sql: str, binds: Sequence[Bind], row: Sequence[Any]) -> int:
        """Run a statement for a row; returns how many rows of the table it has changed."""
        statement = self.java.prepareStatement(sql)
        try:
            for number, (bind, value) in enumerate(zip(binds, row, strict=True), 1):
                bind(statement, number, value)
            return int(statement.executeUpdate())
        finally:
            statement.close()

    def metadata(self, ask: Callable[[Any], Any], *columns: str) -> list[tuple[Any, ...]]:
        """The rows of one of the tables that `java.sql.DatabaseMetaData` has, as Python's values."""
        result = ask(self.java.getMetaData())
        try:
            rows = []
            while result.next():
                rows.append(tuple(_python(result.getObject(name)) for name in columns))
            return rows
        finally:
            result.close()


class JdbcCursor:
    """Statements one by one; of a query's rows the values are texts and whole numbers."""

    def __init__(self, java: Any) -> None:
        self._java = java
        self._rows: list[tuple[Any, ...]] = []
        self.rowcount = -1

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> JdbcCursor:
        statement = self._java.prepareStatement(sql) if parameters else self._java.createStatement()
        try:
            for number, value in enumerate(parameters, 1):
                set_value(statement, number, value)
            is_query = statement.execute() if parameters else statement.execute(sql)
            self._rows = _all(statement.getResultSet()) if is_query else []
            self.rowcount = len(self._rows) if is_query else int(statement.getUpdateCount())
        finally:
            statement.close()
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        rows, self._rows = self._rows, []
        return rows


def _all(result: Any) -> list[tuple[Any, ...]]:
    columns, rows = range(1, result.getMetaData().getColumnCount() + 1), []
    while result.next():
        rows.append(tuple(_python(result.getObject(number)) for number in columns))
    return rows


def _python(value: Any) -> Any:
    """A text or a whole number, whichever class of Java the driver takes for it."""
    from jpype import JClass

    if value is None:
        return None
    return int(value.longValue()) if isinstance(value, JClass("java.lang.Number")) else str(value)
