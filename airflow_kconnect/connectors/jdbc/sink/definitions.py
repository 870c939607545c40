"""SQL that defines tables for the columns of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.driver.identifiers import quote
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn
from airflow_kconnect.connectors.jdbc.sink.naming import Table, quoted, shown
from airflow_kconnect.converters.types import decimal_scale, logical_name

MemberPath = tuple[str, ...]
"""A column, and where a member of its structs is in it."""


class Definitions:
    """The tables that a kind of database can have.

    :param settings: of the connector.
    """

    types: ClassVar[Mapping[str, str]]
    """Column types by the names of Connect's types, plain and logical."""
    key_text: ClassVar[str] = "TEXT"
    """Type of texts in a primary key."""
    max_name_bytes: ClassVar[int] = 1 << 30
    max_parts: ClassVar[int] = 3
    """Of a table's name: the table, its schema, its catalog."""
    add_column: ClassVar[str] = "ADD COLUMN"

    def __init__(self, settings: SinkSettings) -> None:
        self.settings = settings

    def quoted(self, table: Table) -> str:
        return quoted(table, self.settings.naming.mark)

    def quote(self, name: str) -> str:
        return quote(name, self.settings.naming.mark)

    def listed(self, names: Sequence[str], prefix: str = "") -> str:
        """Names of columns, separated by commas."""
        return ", ".join(prefix + self.quote(name) for name in names)

    def same_name(self, name: str) -> str:
        """What is equal for names that the database takes for one column."""
        return name

    def create_statement(self, table: Table, layout: RowLayout) -> str:
        """The table that Connect makes for such records."""
        parts = [self.column_definition(column) for column in layout.columns]
        if layout.keys:
            parts.append(f"PRIMARY KEY ({self.listed(layout.keys)})")
        return f"CREATE TABLE {self.quoted(table)} ({', '.join(parts)})"

    def add_statement(self, table: Table, column: TableColumn) -> str:
        return f"ALTER TABLE {self.quoted(table)} {self.add_column} {self.column_definition(column)}"

    def column_definition(self, column: TableColumn) -> str:
        schema = column.schema
        head = f"{self.quote(column.name)} {self.type_of(column)}"
        if schema.default is not None and (literal := self.literal(column)) is not None:
            return f"{head} DEFAULT {literal}" + (" NOT NULL" if column.is_key else "")
        if schema.default is not None and not schema.type.is_primitive:
            return head  # the records have the default, and rows that are there already have none
        return head if schema.optional and not column.is_key else f"{head} NOT NULL"

    def type_of(self, column: TableColumn) -> str:
        """The type of a column that is created."""
        from airflow_kconnect.connectors.jdbc.sink.cells import kind_of

        kind = kind_of(column, self.settings)
        if column.is_key and kind == SchemaType.STRING.name:
            return self.key_text
        is_nested = not column.schema.type.is_primitive
        if is_nested and self.is_native(column.schema):
            return self.native_type(column.schema)
        return self.plain_type(kind, column.schema)

    def plain_type(self, kind: str, schema: ConnectSchema) -> str:
        """The type of columns of a kind."""
        return self.types[kind].format(scale=decimal_scale(schema) if kind == DECIMAL else 0)

    def is_native(self, schema: ConnectSchema) -> bool:
        """Whether values of a schema are written as they are; other ones are written as JSON."""
        return schema.type.is_primitive

    def native_type(self, schema: ConnectSchema) -> str:
        """The type of what `is_native`."""
        return self.plain_type(logical_name(schema) or schema.type.name, schema)

    def literal(self, column: TableColumn) -> str | None:
        """The default as SQL; None if it has none there (dates and bytes)."""
        match column.schema.default:
            case bool() as truth:
                return self.truth(truth)
            case int() | float() as number:
                return repr(number)
            case str() as text if "\0" not in text:
                return self.text_literal(text)
            case _:
                return None

    def truth(self, value: bool) -> str:
        return "TRUE" if value else "FALSE"

    def text_literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def check_names(self, table: Table, layout: RowLayout) -> None:
        """:raises DataError: a name is longer than the database's names, which it would cut, or has too many parts."""
        if len(table) > self.max_parts:
            raise DataError(
                f"connector {self.settings.connector}: {shown(table)} names a table with {len(table)} parts, and this "
                f"database allows {self.max_parts}: set `table.name.format`, or rename the topic with the RegexRouter "
                "transformation"
            )
        for name in (*table, *layout.names):
            if (size := len(name.encode())) > self.max_name_bytes:
                what = "table" if name in table else "column"
                raise DataError(
                    f"connector {self.settings.connector}: the name of {what} {name} of {shown(table)} has {size} "
                    f"bytes, and this database has names of at most {self.max_name_bytes}: rename it with a "
                    "transformation or `table.name.format`"
                )

    def members_of(self, column: TableColumn) -> Mapping[MemberPath, ConnectSchema]:
        """The members that a column of structs must have, outer ones first; none where it is JSON."""
        return {}

    def add_member_statement(self, table: Table, column: TableColumn, path: MemberPath) -> str:
        """What adds one of `members_of`."""
        raise NotImplementedError
