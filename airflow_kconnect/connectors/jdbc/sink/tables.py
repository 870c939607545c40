"""Tables and columns that records need: looked up, created (``auto.create``), added, or left out (schema changes)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from airflow_kconnect.connect.errors import DataError, RefusedError
from airflow_kconnect.connectors.changes import EVOLVE, IGNORE, SCHEMA_CHANGE
from airflow_kconnect.connectors.jdbc.sink.definitions import MemberPath
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Target


class KnownTables:
    """What is known of the tables of a split."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: dict[Table, set[MemberPath]] = {}
        self._refused: dict[tuple[Table, RowLayout], RefusedError] = {}
        self.left_out: dict[Table, dict[str, None]] = {}
        """The fields that tables have no columns for, in the order in which they were met."""

    def knows(self, table: Table, layout: RowLayout) -> bool:
        """Whether it is known what happens to such rows."""
        if table not in self._known:
            return False
        return (table, layout) in self._refused or self._ignores or not self._missing(self._known[table], layout)

    def fitted(self, table: Table, layout: RowLayout) -> RowLayout | RefusedError:
        """The columns of rows that the table has, or why the table cannot take them; for what it `knows`."""
        if error := self._refused.get((table, layout)):
            return error
        if not self._ignores:
            return layout
        missing = self._missing(self._known[table], layout)
        columns = tuple(column for column in layout.columns if (column.name,) not in missing)
        empty = self._emptied(layout, missing)
        lacking = [column.name for column in layout.columns if column.is_key and column not in columns]
        if lacking or empty or not columns:
            key, members = f"the primary key's {_listed(lacking)}", f"any member of {_listed(empty)}"
            what = key if lacking else members if empty else "any of the record's fields"
            error = self._refusal(table, f"has no column for {what}, which cannot be left out")
            return self.refuse(table, layout, error)
        self.left_out.setdefault(table, {}).update(dict.fromkeys(map(".".join, missing)))
        return layout if columns == layout.columns else replace(layout, columns=columns)

    def refuse(self, table: Table, layout: RowLayout, error: RefusedError) -> RefusedError:
        """From now on the table takes no such rows."""
        self._refused[table, layout] = error
        return error

    def changes(self, connection: Connection, table: Table, layout: RowLayout) -> list[str]:
        """The statements that make the table fit; none if it does, which is then remembered.

        :raises RefusedError: it does not fit and must not be changed.
        :raises DataError: it is missing and must not be made, or a name is too long.
        :raises ConfigError: it has no transactions, which the configuration needs.
        """
        self._target.check_names(table, layout)
        columns = self._target.existing_columns(connection, table)
        if columns is None:
            return [self._create(table, layout)]
        self._target.check_table(connection, table)
        members = self._target.existing_members(connection, table)
        self._known[table] = known = {self._same(path) for path in (*((name,) for name in columns), *members)}
        missing = [] if self._ignores else self._missing(known, layout)
        statements = self._add(table, layout, missing) if missing else []
        known.update(map(self._same, missing))
        return statements

    def change(self, table: Table, layout: RowLayout) -> None:
        """Make the table fit, on a connection of its own, unless another session has done so by now."""
        statements: list[str] = []
        with self._target.session() as connection:
            while True:
                before, statements = statements, []
                try:
                    with self._target.changing(connection):
                        statements = self.changes(connection, table, layout)
                        for statement in statements:
                            connection.cursor().execute(statement)
                    connection.commit()
                    return
                except Exception:
                    # Where others may have made a change at the same moment there is less left to do.
                    if not self._target.changes_race or statements in ([], before):
                        raise
                    connection.rollback()

    @property
    def _ignores(self) -> bool:
        return self._target.settings.schema_changes == IGNORE

    def _same(self, path: MemberPath) -> MemberPath:
        return tuple(map(self._target.same_name, path))

    def _missing(self, known: set[MemberPath], layout: RowLayout) -> list[MemberPath]:
        """Columns, and members of columns, that the table lacks; of nested members only the outermost."""
        missing: list[MemberPath] = []
        for column in layout.columns:
            for path in ((column.name,), *self._target.members_of(column)):
                within = any(path[: len(outer)] == outer for outer in missing)
                if not within and self._same(path) not in known:
                    missing.append(path)
        return missing

    def _emptied(self, layout: RowLayout, missing: list[MemberPath]) -> list[str]:
        """Structs that would have no members left."""
        members = [path for column in layout.columns for path in self._target.members_of(column)]
        parents = dict.fromkeys(path[:-1] for path in missing if len(path) > 1)
        return [
            ".".join(parent) for parent in parents if all(path in missing for path in members if path[:-1] == parent)
        ]

    def _create(self, table: Table, layout: RowLayout) -> str:
        settings = self._target.settings
        if not settings.auto_create:
            raise DataError(
                f"connector {settings.connector}: there is no table {shown(table)}: create it, set `auto.create` to "
                "true, or name another one with `table.name.format`"
            )
        members = (path for column in layout.columns for path in self._target.members_of(column))
        self._known[table] = {self._same(path) for path in (*((name,) for name in layout.names), *members)}
        return self._target.create_statement(table, layout)

    def _add(self, table: Table, layout: RowLayout, missing: list[MemberPath]) -> list[str]:
        if self._target.settings.schema_changes != EVOLVE:
            raise self._refusal(
                table,
                f"has no columns for the fields {_listed(map('.'.join, missing))}: add them, set `auto.evolve` to "
                f"true, set `{SCHEMA_CHANGE}` to ignore, or leave fields out with `fields.whitelist`",
            )
        columns: dict[MemberPath, TableColumn] = {(column.name,): column for column in layout.columns}
        required = [
            path[0]
            for path in missing
            if path in columns and columns[path].schema.default is None and not columns[path].schema.optional
        ]
        if required:
            raise self._refusal(
                table,
                f"gets no column for {_listed(required)}: the fields must not be null and have no default, so existing "
                "rows could not have them",
            )
        return [
            self._target.add_statement(table, columns[path])
            if path in columns
            else self._target.add_member_statement(table, columns[path[:1]], path)
            for path in missing
        ]

    def _refusal(self, table: Table, what: str) -> RefusedError:
        return RefusedError(f"connector {self._target.settings.connector}: table {shown(table)} {what}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
