"""Rows on their way into PostgreSQL's tables: by COPY, and where they can meet rows that are there already by merges.

An upsert is first tried as if no key were there: a piece is copied straight into the table, after a savepoint. If the
table refuses it, this piece and all later ones are copied into a temporary table, with their offsets and what is to be
done. Every now and then it is merged: the last of each key wins, deletions come first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.jdbc.databases.postgresql.copy import PIECE, Copy
from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import Lines
from airflow_kconnect.connectors.jdbc.databases.postgresql.merges import (
    HAS_UNIQUE_KEY,
    OFFSET,
    OPERATION,
    merge_statements,
    stage_statement,
)
from airflow_kconnect.connectors.jdbc.sink.config import UPSERT
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.connectors.jdbc.sink.target import Target

LOCK_TIMEOUT = "300s"
"""A session that waits longer than this for a lock gives up, and the run is retried."""

_WORTH_TRYING = 1000
# Merges take keys in order, other pieces do not: they must not make others wait for what they wait for themselves.
_TRY = "SAVEPOINT kconnect_piece; SET LOCAL lock_timeout = '500ms'"
_KEEP = f"RELEASE SAVEPOINT kconnect_piece; SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"
_TAKE_BACK = "ROLLBACK TO SAVEPOINT kconnect_piece"


@dataclass(frozen=True)
class _Rows:
    """Which rows a COPY takes; those of a table and part have one layout."""

    table: Table
    part: int
    layout: RowLayout


@dataclass
class _Stage:
    """A temporary table in front of a table.

    :param layout: of its rows. :param rows: how many were copied into it since the last merge.
    :param first: offset of the first of them.
    """

    name: str
    layout: RowLayout
    rows: int = 0
    first: int | None = None

    def takes(self, layout: RowLayout) -> bool:
        """Whether rows of a layout go along with those that are here: the same columns, or deletions."""
        if layout.delete:
            return layout.keys == self.layout.keys
        return not self.layout.delete and (layout.keys, layout.names) == (self.layout.keys, self.layout.names)

    def count(self, lines: Lines) -> None:
        """Rows are on their way."""
        self.rows += len(lines)
        self.first = lines.offsets[0].as_py() if self.first is None else self.first


@dataclass
class _Open:
    """The COPY that is open, and where its rows go.

    :param stage: None: straight into the table. :param on_trial: the table may refuse them.
    """

    copy: Copy
    rows: _Rows
    stage: _Stage | None = None
    on_trial: bool = False


class PostgresLoader(Loader):
    """See the module."""

    def __init__(self, target: Target, connection: Connection) -> None:
        super().__init__(target, connection)
        self._settings = target.settings
        self._stages: dict[Table, _Stage] = {}
        self._kept_stages: dict[Table, _Stage] = {}
        self._stages_made = 0
        self._unique: dict[tuple[Table, int], bool] = {}
        self._merged: set[Table] = set()
        self._open: _Open | None = None

    def add(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        self._write(_Rows(table, part, layout), Lines.of(rows, part, len(layout.names)))

    def flush(self) -> None:
        self.pause()
        for table, stage in self._stages.items():
            self._merge(table, stage)

    def remember(self) -> None:
        self._kept_stages = dict(self._stages)

    def forget(self) -> None:
        """Temporary tables are those that were there before, and empty as they were then."""
        if self._open is not None:
            with suppress(ConnectError):
                self._open.copy.end()
        self._open = None
        self._stages = {table: _Stage(stage.name, stage.layout) for table, stage in self._kept_stages.items()}

    def pause(self) -> None:
        """What is open is done; a piece that the table refuses is copied again, to be merged."""
        done, self._open = self._open, None
        if done is None:
            return
        try:
            done.copy.end()
        except ConnectError:
            if not done.on_trial or self._connection.closed:
                raise
            self._merge_instead(done)
        else:
            if done.on_trial:
                self._keep(done)

    def _keep(self, accepted: _Open) -> None:
        """A savepoint takes a transaction id: many small pieces are merged together rather than tried."""
        table = accepted.rows.table
        self._execute(table, _KEEP)
        if accepted.copy.rows < _WORTH_TRYING:
            self._merged.add(table)

    def _merge_instead(self, refused: _Open) -> None:
        """Whatever was wrong with a piece: the merge can do it, or its error is the one that counts."""
        table = refused.rows.table
        self._execute(table, _TAKE_BACK)
        self._merged.add(table)
        for lines in refused.copy.lines:
            self._write(refused.rows, lines)
        self.pause()

    def _write(self, rows: _Rows, lines: Lines) -> None:
        while len(lines):
            into = self._opened(rows)
            piece = lines.slice(0, into.copy.room)
            into.copy.write(piece)
            if into.stage is not None:
                into.stage.count(piece)
            lines = lines.slice(len(piece))

    def _opened(self, rows: _Rows) -> _Open:
        """A COPY that has room for rows."""
        if self._open is None or self._open.rows != rows or not self._open.copy.room:
            self.pause()
            self._open = self._begin(rows)
        return self._open

    def _begin(self, rows: _Rows) -> _Open:
        on_trial = self._needs_trial(rows)
        if on_trial:
            self._execute(rows.table, _TRY)
        if on_trial or not self._settings.merges:
            copy = Copy(
                self._target,
                self._connection,
                rows.table,
                self._target.quoted(rows.table),
                rows.layout.names,
                marked=False,
            )
            return _Open(copy, rows, on_trial=on_trial)
        stage = self._stage(rows.table, rows.layout)
        into, names = self._target.quote(stage.name), (OFFSET, OPERATION, *rows.layout.names)
        return _Open(Copy(self._target, self._connection, rows.table, into, names, marked=True), rows, stage)

    def _needs_trial(self, rows: _Rows) -> bool:
        if self._settings.insert_mode != UPSERT or self._settings.deletes or rows.table in self._merged:
            return False
        key = rows.table, rows.part
        if key not in self._unique:
            self._unique[key] = self._has_unique_key(rows)
        return self._unique[key]

    def _has_unique_key(self, rows: _Rows) -> bool:
        """Whether the table itself refuses a key that is there already, instead of a merge."""
        given = {
            "table": self._target.quoted(rows.table),
            "keys": sorted(rows.layout.keys),
            "names": list(rows.layout.names),
        }
        with self._target.errors(f"table {shown(rows.table)}"):
            return bool(self._connection.execute(HAS_UNIQUE_KEY, given).fetchone()[0])

    def _execute(self, table: Table, statement: str) -> None:
        with self._target.errors(f"table {shown(table)}"):
            self._connection.execute(statement)

    def _stage(self, table: Table, layout: RowLayout) -> _Stage:
        stage = self._stages.get(table)
        if stage is not None and (stage.rows >= PIECE or not stage.takes(layout)):
            self._merge(table, stage)
        if stage is not None and stage.takes(layout):
            return stage
        if stage is not None:
            self._execute(table, f"DROP TABLE {self._target.quote(stage.name)}")
        self._stages_made += 1
        stage = self._stages[table] = _Stage(f"kconnect_stage_{self._stages_made}", layout)
        self._execute(table, stage_statement(self._target, table, stage.name, layout))
        return stage

    def _merge(self, table: Table, stage: _Stage) -> None:
        if not stage.rows:
            return
        with self._target.errors(f"table {shown(table)}, records from offset {stage.first} on"):
            for statement in merge_statements(self._target, table, stage.name, stage.layout):
                self._connection.execute(statement)
            self._connection.execute(f"TRUNCATE {self._target.quote(stage.name)}")
        stage.rows, stage.first = 0, None
