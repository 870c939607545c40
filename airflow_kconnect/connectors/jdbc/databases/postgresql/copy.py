"""A COPY into PostgreSQL, from its first line to its last; errors name the record whose line they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.connectors.jdbc.databases.postgresql.errors import copy_position
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown

if TYPE_CHECKING:
    from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import Lines
    from airflow_kconnect.connectors.jdbc.sink.target import Connection, Target

PIECE = 100_000
"""Rows that are copied, or merged, at once."""
_PIECE_BYTES = 1 << 25


class Copy:
    """A connection can have one at a time.

    :param table: what the rows are for, in errors.
    :param into: the table that they are copied into, quoted.
    :param marked: the lines begin with what `Lines.marked` puts in front.
    """

    def __init__(
        self, target: Target, connection: Connection, table: Table, into: str, names: Sequence[str], *, marked: bool
    ) -> None:
        self._target, self._table, self._marked = target, table, marked
        self.lines: list[Lines] = []
        self.rows = self._bytes = 0
        with self._errors():
            self._context: Any = connection.cursor().copy(f"COPY {into} ({target.listed(names)}) FROM STDIN")
            self._copy = self._context.__enter__()

    @property
    def room(self) -> int:
        """How many rows it still takes."""
        return PIECE - self.rows if self._bytes < _PIECE_BYTES else 0

    def write(self, lines: Lines) -> None:
        self.lines.append(lines)
        self.rows, self._bytes = self.rows + len(lines), self._bytes + lines.size
        with self._errors():
            self._copy.write(text_buffer(lines.marked() if self._marked else lines.texts))

    def end(self) -> None:
        """Only now all errors of the database show."""
        with self._errors():
            self._context.__exit__(None, None, None)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        doing = f"table {shown(self._table)}"
        try:
            with self._target.errors(doing):
                yield
        except DataError as error:
            position = copy_position(error.__cause__) if error.__cause__ else None
            if position is None:
                raise
            line, column = position
            where = f"offset {self._offset_of(line)}" + (f", column {column}" if column else "")
            raise type(error)(str(error).replace(doing, f"{doing}, {where}", 1)) from error.__cause__

    def _offset_of(self, line: int) -> int | None:
        at = line - 1
        for lines in self.lines:
            if at < len(lines):
                offset: int = lines.offsets[at].as_py()
                return offset
            at -= len(lines)
        return None
