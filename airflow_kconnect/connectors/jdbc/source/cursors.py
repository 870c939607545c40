"""Cursors: the columns that say which rows are new, and the conditions on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from airflow_kconnect.connect.connector.source import ResumePoint
from airflow_kconnect.connect.errors import DataError


@dataclass(frozen=True)
class Position:
    """A position in the order of a cursor: everything up to and including it is done.

    :param timestamp: nanoseconds since 1970-01-01 00:00, in UTC if the column knows its zone, else as the clock on the
        wall of the database shows it.
    :param id: value of the incrementing (or tie-breaking) column.
    """

    timestamp: int | None = None
    id: int | None = None

    def progress(self) -> ResumePoint:
        """The same as a split's bound or a row's progress."""
        if self.timestamp is None:
            assert self.id is not None
            return self.id
        return f"{self.timestamp}:{'' if self.id is None else self.id}"

    @classmethod
    def of(cls, progress: ResumePoint) -> Position:
        """The reverse of `progress`. :raises DataError: it is not one."""
        if isinstance(progress, int):
            return cls(id=progress)
        timestamp, _, number = progress.partition(":")
        try:
            return cls(int(timestamp), int(number) if number else None)
        except ValueError:
            raise DataError(f"{progress!r} is not a position in a table; delete the connector's plan record") from None


@dataclass(frozen=True)
class Cursor:
    """The columns that order a table's rows.

    :param timestamp: SQL of the timestamp, or None.
    :param id: SQL of the incrementing column, of the primary key that breaks ties, or None.
    :param id_name: name of that column.
    :param literal: SQL literal of nanoseconds, comparable with `timestamp`; rounded down if that holds less.
    :param exact: whether `id` tells rows apart: then reading can resume after any row.
    :param id_is_offset: whether offsets tell rows apart by `id`; those of a tie breaker do not.
    """

    timestamp: str | None = None
    id: str | None = None
    id_name: str | None = None
    literal: Callable[[int], str] = str
    exact: bool = False
    id_is_offset: bool = True

    @property
    def columns(self) -> list[str]:
        """Its SQL terms, in their order."""
        return [term for term in (self.timestamp, self.id) if term]

    @property
    def order(self) -> str:
        """ORDER BY clause, or nothing."""
        return f" ORDER BY {', '.join(self.columns)}" if self.columns else ""

    def after(self, position: Position) -> str:
        """Condition: after a position."""
        return self._beyond(position, ">", ">=", ">")

    def until(self, position: Position) -> str:
        """Condition: not after a position."""
        return self._beyond(position, "<", "<=", "<=")

    def _beyond(self, position: Position, strictly: str, at_least: str, number: str) -> str:
        if position.timestamp is None:
            return f"{self.id} {number} {position.id}"
        at = self.literal(position.timestamp)
        if position.id is None:
            return f"{self.timestamp} {number} {at}"
        # The first term alone lets the database use an index.
        return (
            f"{self.timestamp} {at_least} {at} AND"
            f" ({self.timestamp} {strictly} {at} OR {self.id} {number} {position.id})"
        )

    def before(self, timestamp: int) -> str:
        """Condition: the timestamp is before this one.

        Not `<`: a literal may be rounded down to what the column can hold, and is then before this one itself.
        """
        return self.until(Position(timestamp - 1))
