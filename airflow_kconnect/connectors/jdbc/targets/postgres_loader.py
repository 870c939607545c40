"""Rows on their way into PostgreSQL's tables: lines that Catalyst has made go into COPY as they are.

Where rows can meet rows that are there already, they are copied into a temporary table first, with their offsets and
what is to be done. Every now and then it is merged: the last of each key wins, deletions come first.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.connectors.jdbc.sink_config import INSERT, UPSERT
from airflow_kconnect.connectors.jdbc.sink_layouts import DELETED, UPSERTED, Layout
from airflow_kconnect.connectors.jdbc.sink_names import Table, shown
from airflow_kconnect.connectors.jdbc.targets.postgres_errors import copy_place
from airflow_kconnect.connectors.jdbc.targets.target import Connection, Loader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from airflow_kconnect.connectors.jdbc.targets.target import Target

PIECE = 100_000
"""Rows that are merged, or copied, at once."""

_OFFSET, _OPERATION = "kconnect_offset", "kconnect_operation"


@dataclass
class _Stage:
    """A temporary table in front of a table.

    :param layout: of its rows. :param rows: how many were copied into it since the last merge.
    """

    name: str
    layout: Layout
    rows: int = 0
    first: int | None = None

    def takes(self, layout: Layout) -> bool:
        """Whether rows of a layout go along with those that are here: the same columns, or deletions."""
        if layout.delete:
            return layout.keys == self.layout.keys
        return not self.layout.delete and (layout.keys, layout.names) == (self.layout.keys, self.layout.names)


class PostgresLoader(Loader):
    """See the module."""

    def __init__(self, target: Target, connection: Connection) -> None:
        self._target, self._connection = target, connection
        self._settings = target.settings
        self._stages: dict[Table, _Stage] = {}
        self._stages_made = 0
        self._copy = _Copy(target, connection)

    def add(self, table: Table, part: int, layout: Layout, rows: pa.RecordBatch) -> None:
        while rows.num_rows:
            room = self._begin(table, part, layout)
            piece = rows.slice(0, room)
            self._copy.write(piece)
            if (stage := self._stages.get(table)) is not None:
                stage.first = piece.column("kafka_offset")[0].as_py() if stage.first is None else stage.first
                stage.rows += piece.num_rows
                if stage.rows >= PIECE:
                    self._merge(table, stage)
            rows = rows.slice(piece.num_rows)

    def flush(self) -> None:
        self._copy.end()
        for table, stage in self._stages.items():
            self._merge(table, stage)

    def pause(self) -> None:
        self._copy.end()

    def _begin(self, table: Table, part: int, layout: Layout) -> int:
        """Makes sure that the right COPY is open; returns how many rows it may take."""
        if not self._settings.merges:
            if self._copy.what != (table, part) or self._copy.rows >= PIECE:
                self._copy.begin((table, part), table, self._target.quoted(table), layout.names)
            return PIECE - self._copy.rows
        stage = self._stage(table, layout)
        if self._copy.what != (table, part):
            names = (_OFFSET, _OPERATION, *layout.names)
            self._copy.begin((table, part), table, self._target.quote(stage.name), names)
        return PIECE - stage.rows

    def _stage(self, table: Table, layout: Layout) -> _Stage:
        stage = self._stages.get(table)
        if stage is not None and stage.takes(layout):
            return stage
        if stage is not None:
            self._merge(table, stage)
            self._connection.execute(f"DROP TABLE {self._target.quote(stage.name)}")
        self._copy.end()
        self._stages_made += 1
        stage = self._stages[table] = _Stage(f"kconnect_stage_{self._stages_made}", layout)
        with self._target.errors(f"table {shown(table)}"):
            # Without the constraints: a deletion has nothing but the key.
            self._connection.execute(
                f"CREATE TEMPORARY TABLE {self._target.quote(stage.name)} ON COMMIT DROP AS "
                f"SELECT 0::bigint AS {_OFFSET}, ''::text AS {_OPERATION}, {self._target.listed(layout.names)} "
                f"FROM {self._target.quoted(table)} WITH NO DATA"
            )
        return stage

    def _merge(self, table: Table, stage: _Stage) -> None:
        self._copy.end()
        if not stage.rows:
            return
        with self._target.errors(f"table {shown(table)}, records from offset {stage.first} on"):
            for statement in merge_statements(self._target, table, stage.name, stage.layout):
                self._connection.execute(statement)
            self._connection.execute(f"TRUNCATE {self._target.quote(stage.name)}")
        stage.rows, stage.first = 0, None


class _Copy:
    """The COPY that is open, if one is: a connection can have one."""

    def __init__(self, target: Target, connection: Connection) -> None:
        self._target, self._connection = target, connection
        self._context: Any = None
        self._copy: Any = None
        self._table: Table = ()
        self._offsets: list[pa.Array] = []
        self.what: tuple[Table, int] | None = None
        self.rows = 0

    def begin(self, what: tuple[Table, int], table: Table, into: str, names: tuple[str, ...]) -> None:
        """Open one; what was open before is done."""
        self.end()
        self.what, self._table, self.rows, self._offsets = what, table, 0, []
        with self._errors():
            self._context = self._connection.cursor().copy(f"COPY {into} ({self._target.listed(names)}) FROM STDIN")
            self._copy = self._context.__enter__()

    def write(self, rows: pa.RecordBatch) -> None:
        self._offsets.append(rows.column("kafka_offset"))
        self.rows += rows.num_rows
        with self._errors():
            self._copy.write(text_buffer(rows.column("line")))

    def end(self) -> None:
        if self._context is None:
            return
        context, self._context, self.what = self._context, None, None
        with self._errors():
            context.__exit__(None, None, None)
        self.rows = 0

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """An error names the record whose line it is about."""
        doing = f"table {shown(self._table)}"
        try:
            with self._target.errors(doing):
                yield
        except DataError as error:
            place = copy_place(error.__cause__) if error.__cause__ else None
            if place is None:
                raise
            line, column = place
            where = f"offset {self._offset_of(line)}" + (f", column {column}" if column else "")
            raise DataError(str(error).replace(doing, f"{doing}, {where}", 1)) from error.__cause__

    def _offset_of(self, line: int) -> int | None:
        at = line - 1
        for offsets in self._offsets:
            if at < len(offsets):
                found: int = offsets[at].as_py()
                return found
            at -= len(offsets)
        return None


def merge_statements(target: Target, table: Table, stage: str, layout: Layout) -> list[str]:
    """From the temporary table into the table: deletions, then what is left of each key."""
    settings = target.settings
    into, source = target.quoted(table), target.quote(stage)
    keys, names = target.listed(layout.keys), target.listed(layout.names)
    same_key = " AND ".join(f"t.{target.quote(name)} = s.{target.quote(name)}" for name in layout.keys)
    changes = ", ".join(f"{target.quote(name)} = s.{target.quote(name)}" for name in layout.others)
    last = (
        f"(SELECT * FROM (SELECT DISTINCT ON ({keys}) * FROM {source} ORDER BY {keys}, {_OFFSET} DESC) AS last "
        f"WHERE {_OPERATION} = '{UPSERTED}')"
    )
    deletions = f"(SELECT DISTINCT {keys} FROM {source} WHERE {_OPERATION} = '{DELETED}')"
    statements = [f"DELETE FROM {into} AS t USING {deletions} AS s WHERE {same_key}"] if settings.deletes else []
    if layout.delete:
        return statements
    if settings.insert_mode == UPSERT:
        on_conflict = ", ".join(f"{target.quote(name)} = EXCLUDED.{target.quote(name)}" for name in layout.others)
        then = f"UPDATE SET {on_conflict}" if on_conflict else "NOTHING"
        statements.append(
            f"INSERT INTO {into} ({names}) SELECT {names} FROM {last} AS s ON CONFLICT ({keys}) DO {then}"
        )
    elif settings.insert_mode == INSERT:
        later = f"t.{_OPERATION} = '{DELETED}' AND t.{_OFFSET} > s.{_OFFSET} AND {same_key}"
        statements.append(
            f"INSERT INTO {into} ({names}) SELECT {names} FROM {source} AS s WHERE s.{_OPERATION} = '{UPSERTED}' "
            f"AND NOT EXISTS (SELECT FROM {source} AS t WHERE {later}) ORDER BY s.{_OFFSET}"
        )
    elif changes:
        statements.append(f"UPDATE {into} AS t SET {changes} FROM {last} AS s WHERE {same_key}")
    return statements
