"""Tables and columns that records need: looked up, made (``auto.create``), or added (``auto.evolve``)."""

from __future__ import annotations

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Target


class KnownTables:
    """What is known of the tables of a split."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: dict[Table, set[str]] = {}

    def knows(self, table: Table, layout: RowLayout) -> bool:
        """Whether a table is known to have the columns."""
        return table in self._known and not self._missing(self._known[table], layout)

    def changes(self, connection: Connection, table: Table, layout: RowLayout) -> list[str]:
        """The statements that make the table fit; none if it does, which is then remembered.

        :raises DataError: it does not fit and must not be changed, or a name is too long.
        :raises ConfigError: it knows no transactions, which the configuration needs.
        """
        self._target.check_names(table, layout)
        found = self._target.found_columns(connection, table)
        if found is None:
            return [self._create(table, layout)]
        self._target.check_table(connection, table)
        columns = set(map(self._target.same_name, found))
        missing = self._missing(columns, layout)
        statements = self._add(table, layout, missing) if missing else []
        self._known[table] = columns if not missing else columns | {self._target.same_name(name) for name in missing}
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

    def _missing(self, columns: set[str], layout: RowLayout) -> list[str]:
        return [name for name in layout.names if self._target.same_name(name) not in columns]

    def _create(self, table: Table, layout: RowLayout) -> str:
        settings = self._target.settings
        if not settings.auto_create:
            raise DataError(
                f"connector {settings.connector}: there is no table {shown(table)}: create it, set `auto.create` to "
                "true, or name another one with `table.name.format`"
            )
        self._known[table] = set(map(self._target.same_name, layout.names))
        return self._target.create_statement(table, layout)

    def _add(self, table: Table, layout: RowLayout, missing: list[str]) -> list[str]:
        settings = self._target.settings
        names = ", ".join(f"`{name}`" for name in missing)
        if not settings.auto_evolve:
            raise DataError(
                f"connector {settings.connector}: table {shown(table)} has no columns for the fields {names}: add "
                "them, set `auto.evolve` to true, or leave fields out with `fields.whitelist`"
            )
        columns = [column for column in layout.columns if column.name in missing]
        required = [f"`{c.name}`" for c in columns if c.schema.default is None and not c.schema.optional]
        if required:
            raise DataError(
                f"connector {settings.connector}: table {shown(table)} gets no column for {', '.join(required)}: the "
                "fields must not be null and have no default, so existing rows could not have them"
            )
        return [self._target.add_statement(table, column) for column in columns]
