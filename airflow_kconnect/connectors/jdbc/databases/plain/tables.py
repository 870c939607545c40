"""Tables of any database, for statements into them: what JDBC's metadata report."""

from __future__ import annotations

import re
from typing import Any

from airflow_kconnect.connectors.jdbc.databases.plain.binding import Bind, binder
from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.connectors.jdbc.sink.rows_target import Statement, StatementsTarget
from airflow_kconnect.connectors.jdbc.sink.target import Connection

_VARCHAR = 12
"""`java.sql.Types.VARCHAR`"""


class PlainTables(StatementsTarget):
    """The columns and keys of tables, as JDBC's metadata report them, and what sets parameters for them."""

    moments_are_texts = False
    """Whether the driver takes moments as texts only."""
    small_numbers_are_texts = False
    """Whether the driver keeps the low bits of a number that is too large for its column, unless it is a text."""

    def binders(self, connection: JdbcConnection, table: Table, layout: RowLayout) -> dict[str, Bind]:
        """What sets parameters for the columns of a layout, by their names."""
        from airflow_kconnect.connectors.jdbc.sink.cells import kind_of

        types = {self.same_name(name): int(type_) for name, type_ in self._columns(connection, table)}
        return {
            column.name: binder(
                kind_of(column, self.settings),
                types.get(self.same_name(column.name), _VARCHAR),
                moments_are_texts=self.moments_are_texts,
                small_numbers_are_texts=self.small_numbers_are_texts,
            )
            for column in layout.columns
        }

    def merge(self, table: Table, layout: RowLayout) -> Statement | None:
        """An upsert of one row as a statement. None, the default: an update, and an insert if there was no such row.

        The types of the table's columns are not known here. Where the database cannot tell a parameter's type, such as
        in a clause `USING`, the statement must get it from the columns itself.
        """
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


def _pattern(metadata: Any, name: str | None) -> str | None:
    """A pattern that matches a name, and maybe others: not all drivers can escape an underscore."""
    escape = str(metadata.getSearchStringEscape() or "")
    if name is None or not escape:
        return name
    return re.sub(rf"[%_{re.escape(escape)}]", lambda match: escape + match[0], name)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
