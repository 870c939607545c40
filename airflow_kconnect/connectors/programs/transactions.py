"""Records that wait for the state that belongs to them: together they are a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.record import SourceRecord

_RECORDS, _BYTES = 5000, 8 * 1024 * 1024


class Transactions:
    """The last record before a state has it as its offset; those before have none, and so belong to it.

    A transaction is passed on when it is whole, so that a program that fails in the middle of one leaves the others
    complete. One that is larger than what may wait is passed on in parts. The last record waits until another message
    follows: a program that is at its end may state better what it has stated already.
    """

    def __init__(self) -> None:
        self._waiting: list[SourceRecord] = []
        self._bytes = 0
        self._state: Mapping[str, Any] | None = None
        self._ready: list[SourceRecord] = []
        self.open = False
        """Whether records have been taken that belong to some that have not come."""

    def add(self, record: SourceRecord, size: int) -> None:
        """:param record: without an offset. :param size: bytes that it takes, about."""
        self.release()
        self._waiting.append(record)
        self._bytes += size
        if len(self._waiting) > _RECORDS or self._bytes > _BYTES:
            *passed, last = self._waiting
            self._waiting, self._bytes = [last], size
            self._ready += passed

    def save(self, offset: Mapping[str, Any]) -> None:
        """A state that covers what was added; without a record it has nothing to be stored with."""
        if self._waiting:
            self._state = offset

    def release(self) -> None:
        """What waits with its state is ready."""
        if self._state is None:
            return
        self._waiting[-1] = replace(self._waiting[-1], source_offset=self._state)
        self._ready += self._waiting
        self._waiting, self._bytes, self._state = [], 0, None

    @property
    def ready(self) -> int:
        """How many records are ready."""
        return len(self._ready)

    def take(self) -> list[SourceRecord]:
        """The records that are ready."""
        taken, self._ready = self._ready, []
        if taken:
            self.open = taken[-1].source_offset is None
        return taken
