"""Rows on their way into databases without a bulk protocol: statements for many rows, in the records' order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connectors.jdbc.sink.config import INSERT, UPDATE
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader, Target

if TYPE_CHECKING:
    import pyarrow as pa

Statement = tuple[str, Sequence[str]]


class RowsLoader(Loader):
    """Nothing is kept back: a later row of the same key simply comes later."""

    _target: RowsTarget

    def add(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        columns = {name: rows.column(f"cell_{part}_{n}") for n, name in enumerate(layout.names)}
        statement, names = self._target.statement(table, layout)
        values = list(zip(*(columns[name].to_pylist() for name in names), strict=True))
        first = rows.column("kafka_offset")[0].as_py()
        with self._target.errors(f"table {shown(table)}, records from offset {first} on"):
            self.execute(self._connection.cursor(), statement, values, rows.nbytes)

    def execute(self, cursor: Any, statement: str, values: Sequence[Sequence[Any]], size: int) -> None:
        """Run a statement for each row, in order.

        :param size: bytes of all rows, at most.
        """
        cursor.executemany(statement, values)

    def flush(self) -> None:
        pass


class StatementsTarget(Target):
    """A database that gets each row as the parameters of a statement.

    Of a statement there are its text and the columns whose values it takes, in order.
    """

    def insert(self, table: Table, layout: RowLayout) -> Statement:
        marks = ", ".join([self.placeholder] * len(layout.names))
        into = f"{self.escaped(self.quoted(table))} ({self.escaped(self.listed(layout.names))})"
        return f"INSERT INTO {into} VALUES ({marks})", layout.names

    def update(self, table: Table, layout: RowLayout) -> Statement:
        # Where all columns are the key's there is nothing to change.
        others = layout.others or layout.keys
        where = self._equal(layout.keys, " AND ")
        update = f"UPDATE {self.escaped(self.quoted(table))} SET {self._equal(others, ', ')} WHERE {where}"
        return update, [*others, *layout.keys]

    def delete(self, table: Table, layout: RowLayout) -> Statement:
        where = self._equal(layout.keys, " AND ")
        return f"DELETE FROM {self.escaped(self.quoted(table))} WHERE {where}", layout.keys

    def _equal(self, names: Sequence[str], separator: str) -> str:
        return separator.join(f"{self.escaped(self.quote(name))} = {self.placeholder}" for name in names)

    def escaped(self, sql: str) -> str:
        """Text of a statement with parameters."""
        return sql.replace("%", "%%") if self.placeholder == "%s" else sql


class RowsTarget(StatementsTarget):
    """A database that gets its rows by `RowsLoader`."""

    def loader(self, connection: Connection) -> Loader:
        return RowsLoader(self, connection)

    def statement(self, table: Table, layout: RowLayout) -> Statement:
        """What is done with a row."""
        if layout.delete:
            return self.delete(table, layout)
        if self.settings.insert_mode == UPDATE:
            return self.update(table, layout)
        insert, names = self.insert(table, layout)
        if self.settings.insert_mode == INSERT:
            return insert, names
        return f"{insert} {self.escaped(self.on_conflict(layout))}", names

    @abstractmethod
    def on_conflict(self, layout: RowLayout) -> str:
        """What an insert does where the key is there already."""
