"""Rows on their way into any database: batches of plain statements.

An upsert is an update, and an insert of the rows that there were not: that needs no SQL that only some databases know.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError, RefusedError
from airflow_kconnect.connectors.jdbc.databases.plain.binding import Bind
from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.databases.plain.tables import PlainTables
from airflow_kconnect.connectors.jdbc.sink.config import INSERT, UPDATE
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.rows_target import Statement
from airflow_kconnect.connectors.jdbc.sink.target import Loader

if TYPE_CHECKING:
    import pyarrow as pa

Row = Sequence[Any]

_BATCH_ROWS, _BATCH_BYTES = 1000, 16 << 20
"""What the driver keeps in memory, at most."""


class _Rows:
    """Rows of one layout; statements take some of their values.

    :param doing: what is done with them, for messages. :param row_bytes: of a row, on average.
    """

    def __init__(
        self, connection: JdbcConnection, layout: RowLayout, binds: Mapping[str, Bind], doing: str, row_bytes: int
    ) -> None:
        self._connection, self._binds, self.doing = connection, binds, doing
        self._batch_rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, row_bytes)))
        self._index_of = {name: index for index, name in enumerate(layout.names)}

    def run(self, statement: Statement, rows: Sequence[Row]) -> list[int | None]:
        sql, names = statement
        return self._connection.run(
            sql, self._binds_of(names), [self.part(row, names) for row in rows], self._batch_rows
        )

    def run_once(self, statement: Statement, row: Row) -> int:
        sql, names = statement
        return self._connection.run_once(sql, self._binds_of(names), self.part(row, names))

    def part(self, row: Row, names: Sequence[str]) -> Row:
        return tuple(row[self._index_of[name]] for name in names)

    def _binds_of(self, names: Sequence[str]) -> list[Bind]:
        return [self._binds[name] for name in names]


class PlainLoader(Loader):
    """Nothing is kept back."""

    _target: PlainTables

    def __init__(self, target: PlainTables, connection: JdbcConnection) -> None:
        super().__init__(target, connection)
        self._binds: dict[tuple[Table, int], Mapping[str, Bind]] = {}
        self._merged: set[tuple[Table, tuple[str, ...]]] = set()

    def add(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        values = list(
            zip(*(rows.column(f"cell_{part}_{n}").to_pylist() for n in range(len(layout.names))), strict=True)
        )
        first = rows.column("kafka_offset")[0].as_py()
        doing = f"table {shown(table)}, records from offset {first} on"
        with self._target.errors(doing):
            to = _Rows(self._connection, layout, self._binders(table, part, layout), doing, rows.nbytes // len(values))
            if layout.delete:
                to.run(self._target.delete(table, layout), values)
            elif self._target.settings.insert_mode == INSERT:
                to.run(self._target.insert(table, layout), values)
            elif self._target.settings.insert_mode == UPDATE:
                to.run(self._target.update(table, layout), values)
            else:
                self._check_key(table, layout)
                self._upsert(table, layout, to, values)

    def _binders(self, table: Table, part: int, layout: RowLayout) -> Mapping[str, Bind]:
        if (table, part) not in self._binds:
            self._binds[table, part] = self._target.binders(self._connection, table, layout)
        return self._binds[table, part]

    def flush(self) -> None:
        pass

    @contextmanager
    def attempt(self) -> Iterator[None]:
        with self._target.errors("writing rows in parts that can be rolled back"):
            savepoint = self._connection.java.setSavepoint()
        try:
            yield
        except RefusedError:
            with self._target.errors("taking rows back"):
                self._connection.java.rollback(savepoint)
            raise
        # Some drivers cannot, and need not.
        with contextlib.suppress(Exception):
            self._connection.java.releaseSavepoint(savepoint)

    def _check_key(self, table: Table, layout: RowLayout) -> None:
        """:raises DataError: nothing keeps two sessions from adding the same key."""
        if (table, layout.keys) in self._merged:
            return
        if set(map(self._target.same_name, layout.keys)) not in self._target.unique_keys(self._connection, table):
            raise DataError(
                f"connector {self._target.settings.connector}, table {shown(table)}: the table has no primary key or "
                "unique index over exactly the columns of the primary key"
            )
        self._merged.add((table, layout.keys))

    def _upsert(self, table: Table, layout: RowLayout, to: _Rows, rows: Sequence[Row]) -> None:
        merge = self._target.merge(table, layout)
        if merge is not None:
            to.run(merge, rows)
            return
        last = list({to.part(row, layout.keys): row for row in rows}.values())
        counts = to.run(self._target.update(table, layout), last)
        if None not in counts:
            missing = [row for row, count in zip(last, counts, strict=True) if not count]
            try:
                with self._target.errors(to.doing):
                    to.run(self._target.insert(table, layout), missing)
                return
            except RefusedError:
                # Keys that only the database takes for equal, or that another session has added: one by one they fit.
                pass
        for row in rows:
            self._upsert_one(table, layout, to, row)

    def _upsert_one(self, table: Table, layout: RowLayout, to: _Rows, row: Row) -> None:
        update = self._target.update(table, layout)
        if to.run_once(update, row):
            return
        try:
            with self._target.errors(to.doing):
                to.run_once(self._target.insert(table, layout), row)
        except RefusedError:
            if not to.run_once(update, row):
                raise
