"""The task: reads the messages of a program into records, in the transactions that its states allow."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from airflow_kconnect.connect.connector.task import NewShapes, SourceTask
from airflow_kconnect.connect.errors import DataError, NextRunError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.programs.json_types import Rows, has_decimals
from airflow_kconnect.connectors.programs.known import KnownRows, new_facts
from airflow_kconnect.connectors.programs.messages import Described, Message, Row, Saved, parsed
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.settings import (
    KNOWN_OF_TASK,
    ProgramSettings,
    refuse_shared_topics,
    topic_of,
)
from airflow_kconnect.connectors.programs.transactions import Transactions

Offset = Mapping[str, Any]

_NO_STATE: Offset = {"state": "{}"}
"""The offset of a program that has told no state to its end."""
_POLL_RECORDS, _POLL_S = 2000, 0.5
_LOOK_AHEAD_S = 1.0


class ProgramTask(SourceTask):
    """Each scope of states is a source partition. Records that are not resume points have no offset, see
    `PollSourceConnector.commits_at_offsets`.
    """

    def __init__(self) -> None:
        self.program: Program | None = None
        self._ended = False
        self._failure: Exception | None = None
        self._new: list[Rows] = []
        self._rows: dict[str, Rows] = {}
        self._exactly = False
        # By scope: what waits; the last state; that of the last resume point; and what was passed on last.
        self._transactions: dict[str | None, Transactions] = {}
        self._last: dict[str | None, Offset] = {}
        self._boundary: dict[str | None, Offset | None] = {}
        self._reached: dict[str | None, Offset] = {}

    @classmethod
    @abstractmethod
    def settings_of(cls, props: Mapping[str, str]) -> ProgramSettings:
        """The task's configuration, parsed."""

    @abstractmethod
    def launched(self) -> Program:
        """The program, started from the offsets that `offset_of` tells."""

    @abstractmethod
    def message(self, found: Mapping[str, Any]) -> Message:
        """What an object of JSON says. :raises ConnectError: that the program has failed."""

    @abstractmethod
    def scope_of(self, stream: str) -> str | None:
        """To which states the rows of a stream belong, see `Saved`."""

    @abstractmethod
    def partition_of(self, scope: str | None) -> Mapping[str, Any]:
        """The source partition of a scope."""

    def start(self, props: Mapping[str, str]) -> None:
        self.props = dict(props)
        self.settings = self.settings_of(props)
        self._wants = cache(self.wants)
        self._known = KnownRows.of(props[KNOWN_OF_TASK])

    def wants(self, stream: str) -> bool:
        """Whether the records of a stream are to be passed on."""
        return self.settings.wants(stream)

    def stop(self) -> None:
        """End the program, if a bound has ended the run."""
        if self.program is not None:
            self.program.stop()
            self.program = None

    def offset_of(self, scope: str | None) -> Offset | None:
        """Where the program resumes; None: at its beginning."""
        return self._reached.get(scope) or self.context.offset(self.partition_of(scope))

    def described(self, stream: str, schema: Mapping[str, Any], keys: Sequence[str]) -> Described:
        """For `message`: a stream has this JSON schema."""
        return Described(self.settings.rows(stream, schema, keys))

    def know(self, rows: Rows) -> None:
        """From now on the rows of a stream are these.

        :raises ConfigError: another stream goes to its topic: catalogs need not have all streams of messages.
        """
        self._rows[rows.stream] = rows
        refuse_shared_topics(self.settings, self._rows)
        self._exactly = self._exactly or has_decimals(rows.value)
        if self._known.add(rows):
            self._new.append(rows)

    def explained(self, error: Exception) -> Exception:
        """The error with which to end the run, if the program has said more about it than its end does."""
        return error

    def check_end(self) -> None:
        """:raises ConnectError: a program that has ended well has told of an error."""

    def poll(self) -> Sequence[SourceRecord] | None:
        """:raises NewShapes: the next records have schemas that are not known. :raises ConnectError: as it failed."""
        records = self._taken()
        if records:
            return records
        if self._new:
            raise NewShapes(new_facts(self._new))
        if self._failure is not None:
            raise self._failed(self._failure)
        if self._ended:
            return None
        self._read()
        return self._taken() or (() if not self._ended else self.poll())

    def _failed(self, error: Exception) -> Exception:
        """What to raise. `poll` may be called again after a `RetriableError`: the program is started again then."""
        self.stop()
        if isinstance(error, RetriableError) and any(each.open for each in self._transactions.values()):
            return NextRunError(str(error))  # only the next run leaves out what was returned already
        self._failure = None
        self._transactions, self._last, self._boundary = {}, {}, {}
        return error

    def _read(self) -> None:
        """Read for a moment."""
        silent = False
        try:
            if self.program is None:
                self.program = self.launched()
            until = time.monotonic() + _POLL_S
            while not self._new and time.monotonic() < until and self._ready < _POLL_RECORDS:
                line = self.program.line(_POLL_S)
                if line is None:
                    self._end()
                    return
                if silent := not line:
                    break
                self._take(line)
            if self._new:
                self._look_ahead(self.program)
            elif silent:
                self._release()  # nothing follows for now
        except Exception as error:
            self._failure = self.explained(error)
            self._release()

    @property
    def _ready(self) -> int:
        return sum(each.ready for each in self._transactions.values())

    def _take(self, line: bytes) -> None:
        match self.message(parsed(line, self.settings.name, exactly=self._exactly)):
            case Row() as row if self._wants(row.stream):
                scope = self.scope_of(row.stream)
                self._of(scope).add(self._record(row, scope), len(line))
            case Saved() as saved:
                self._save(saved)
            case Described(rows) if self._wants(rows.stream):
                self.know(rows)

    def _look_ahead(self, program: Program) -> None:
        """Schemas that follow, so that they are learned at once. The records between them are read again."""
        self._release()
        until = time.monotonic() + _LOOK_AHEAD_S
        while time.monotonic() < until and (line := program.line(_POLL_S)):
            found = self.message(parsed(line, self.settings.name))
            if isinstance(found, Described) and self._wants(found.rows.stream) and self._known.add(found.rows):
                self._new.append(found.rows)

    def _of(self, scope: str | None) -> Transactions:
        found = self._transactions.get(scope)
        if found is None:
            found = self._transactions[scope] = Transactions()
            self._boundary[scope] = self.offset_of(scope)
        return found

    def _save(self, saved: Saved) -> None:
        scope, offset = saved.scope, saved.offset
        transactions, before = self._of(scope), self._boundary[scope]
        self._last[scope] = offset
        match self.settings.resume_after:
            case "run":
                return
            case "auto" if not saved.resumable or offset == before:
                return  # a run could not be resumed there, or would begin where it has begun
        self._boundary[scope] = offset
        transactions.save(offset)

    def _release(self) -> None:
        for transactions in self._transactions.values():
            transactions.release()

    def _end(self) -> None:
        """The program has ended well: its last states cover all that it has written."""
        self.check_end()
        self._ended = True
        self.stop()
        for scope, transactions in self._transactions.items():
            transactions.save(self._last.get(scope) or self.offset_of(scope) or _NO_STATE)
            transactions.release()

    def _taken(self) -> list[SourceRecord]:
        found = []
        for scope, transactions in self._transactions.items():
            taken = transactions.take()
            offset = next((each.source_offset for each in reversed(taken) if each.source_offset), None)
            if offset is not None:
                self._reached[scope] = offset
            found += taken
        return found

    def _record(self, row: Row, scope: str | None) -> SourceRecord:
        rows = self._rows.get(row.stream)
        if rows is None:
            raise DataError(f"{self.settings.name} has written a record of stream {row.stream} before its schema")
        value = rows.written(row.values) if self._exactly or rows.value is not None else dict(row.values)
        key = {
            name: self._part(rows, row.values if isinstance(value, DataError) else value, name) for name in rows.keys
        }
        return SourceRecord(
            source_partition=self.partition_of(scope),
            source_offset=None,
            topic=topic_of(self.settings.topic_prefix, row.stream),
            key=key or None,
            key_schema=rows.key if key else None,
            value=value,
            value_schema=rows.value,
            timestamp=row.at_ms,
        )

    def _part(self, rows: Rows, values: Mapping[str, Any], name: str) -> Any:
        if values.get(name) is None:
            text = f"stream {rows.stream} of {self.settings.name} has a record without `{name}`, which is in its key"
            raise DataError(f"{text}: correct the source, or the key by `{self.settings.keys.hints}{rows.stream}`")
        return values[name]
