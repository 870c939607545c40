"""How far a source function is: offsets by a cursor in the records, or by a state of its own."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.functions.failures import short

Offset = dict[str, Any]
_SENT_MAX = 2000
_TYPED: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "Decimal": decimal.Decimal,
}
_MARK = "|"


class State(dict[str, Any]):
    """Yielded by a source function between records: everything before it is done, and this is where to resume.

    ``yield State(page=3)``: the next run's `state` is ``{"page": 3}``.
    """


class Position(ABC):
    """Where one run of a source function is; created with the committed offset, or None."""

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """What the function is called with, if it has such parameters."""

    @abstractmethod
    def offset_after(self, record: Mapping[str, Any], *, aside: tuple[Any, ...] = ()) -> Offset | None:
        """The offset after the next record; None if the record was sent by an earlier run.

        :param aside: what makes it another record than one of the same value: its key and topic, if it says them.
        :raises DataError: the record does not say where it is.
        """


class NoPosition(Position):
    """A function that sends everything in each run."""

    def arguments(self) -> dict[str, Any]:
        return {}

    def offset_after(self, record: Mapping[str, Any], *, aside: tuple[Any, ...] = ()) -> Offset:
        return {}


class StatePosition(Position):
    """By a dict that the function changes before it yields a record, or by the `State` objects that it yields.

    Records that were sent with the same state are counted: from a state the function yields the same records again, and
    those are skipped.
    """

    def __init__(self, who: str, committed: Offset | None) -> None:
        self._who = who
        if committed and "state" not in committed:
            has = ", ".join(sorted(committed))
            raise DataError(
                f"{who}: it resumes by a state, and the committed offset has `{has}`: reset the offset to begin again,"
                " or give the connector a new name"
            )
        self._text = committed.get("state", "{}") if committed else "{}"
        self._skip = int(committed.get("sent", 0)) if committed else 0
        self._sent = 0
        self.state: dict[str, Any] = json.loads(self._text)

    def arguments(self) -> dict[str, Any]:
        return {"state": self.state}

    def enter(self, state: State) -> None:
        """The function has yielded a state."""
        self.state = dict(state)

    def offset_after(self, record: Mapping[str, Any], *, aside: tuple[Any, ...] = ()) -> Offset | None:
        try:
            text = json.dumps(self.state, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise DataError(f"{self._who}: its state cannot be written as JSON: {error}") from error
        if text != self._text:
            self._text, self._sent, self._skip = text, 0, 0
        self._sent += 1
        return None if self._sent <= self._skip else {"state": text, "sent": self._sent}


class CursorPosition(Position):
    """By fields of the records that never fall from one record to the next.

    Records with the same cursor may be cut apart by the end of a run, and more of them may come later. So the function
    is called with the cursor before the last one that was sent, and what was sent of both is recognised by its content.
    Cursors that contain the key need none of that.

    :param who: the function, for errors. :param fields: of the cursor. :param unique: whether no two records have the
        same cursor.
    """

    def __init__(self, who: str, fields: tuple[str, ...], committed: Offset | None, *, unique: bool) -> None:
        self._who, self._fields, self._unique = who, fields, unique
        committed = committed or {}
        self._check_fields(committed)
        self._start = self._before = _read(committed, fields)
        self._newest = _read(committed, tuple(f"newest.{field}" for field in fields)) or self._before
        if unique:  # the offset may be of a time when the cursor did not have the key
            self._start = self._newest
        sent = str(committed.get("sent", ""))
        self._sent: dict[Any, dict[str, None]] = {}
        for group in filter(None, sent.split(" ")):
            at, _, hashes = group.partition(":")
            value = self._before if at == "before" else self._newest
            self._sent[value] = dict.fromkeys(hashes.split(","))
        self._last: Any = None

    def _check_fields(self, committed: Offset) -> None:
        """:raises DataError: the offset is that of another cursor, from which all records would be sent again."""
        names = {field.removeprefix("newest.") for field in committed} - {"sent"}
        if names and names != set(self._fields):
            wanted, has = ", ".join(self._fields), ", ".join(sorted(names))
            raise DataError(
                f"{self._who}: its cursor is `{wanted}`, and the committed offset has `{has}`: alter the offset, reset"
                " it to send all records again, or give the connector a new name"
            )

    def arguments(self) -> dict[str, Any]:
        if self._start is None:
            return {"cursor": None}
        return {"cursor": self._start if len(self._fields) > 1 else self._start[0]}

    def offset_after(self, record: Mapping[str, Any], *, aside: tuple[Any, ...] = ()) -> Offset | None:
        value = self._value(record)
        self._check_order(value)
        if self._start is not None and value < self._start:
            return None
        return self._unique_offset(value) if self._unique else self._grouped_offset(value, [record, *aside])

    def _value(self, record: Mapping[str, Any]) -> tuple[Any, ...]:
        missing = [field for field in self._fields if record.get(field) is None]
        if missing:
            raise DataError(f"{self._who}: a record has no `{missing[0]}`, which is its cursor: {short(record)}")
        return tuple(record[field] for field in self._fields)

    def _check_order(self, value: tuple[Any, ...]) -> None:
        shown = f"`{', '.join(self._fields)}`"
        try:
            falls = self._last is not None and value < self._last
            _ = self._start is not None and value < self._start
        except TypeError as error:
            raise DataError(f"{self._who}: its cursor {shown} has values of different types: {error}") from error
        if falls:
            text = f"records must come in ascending order of {shown}: {_texts(value)} came after {_texts(self._last)}"
            raise DataError(f"{self._who}: {text}")
        if self._unique and value == self._last:
            raise DataError(f"{self._who}: two records have the same {shown}: {_texts(value)}")
        self._last = value

    def _unique_offset(self, value: tuple[Any, ...]) -> Offset | None:
        return None if value == self._start else _written(value, self._fields)

    def _grouped_offset(self, value: tuple[Any, ...], content: list[Any]) -> Offset | None:
        digest = _digest(content)
        if digest in self._sent.get(value, ()):
            return None
        if self._newest is None or value > self._newest:
            self._before, self._newest = self._newest, value
        elif value != self._newest and (self._before is None or value > self._before):
            self._before = value  # it came late, between the two: the offset has to know that it was sent
        self._sent = {at: sent for at, sent in self._sent.items() if at in (self._before, self._newest)}
        group = self._sent.setdefault(value, {})
        group[digest] = None
        if len(group) > _SENT_MAX:
            raise DataError(
                f"{self._who}: more than {_SENT_MAX} records have the cursor {_texts(value)}, too many to know which of"
                ' them were sent: add the key, cursor=("updated_at", "id"), and yield records in the order of both'
            )
        return self._grouped()

    def _grouped(self) -> Offset:
        assert self._newest is not None
        groups = [("before", self._before), ("newest", self._newest)] if self._before else [("newest", self._newest)]
        sent = " ".join(f"{at}:{','.join(self._sent[value])}" for at, value in groups if self._sent.get(value))
        before = _written(self._before, self._fields) if self._before is not None else {}
        newest = _written(self._newest, tuple(f"newest.{field}" for field in self._fields))
        return {**before, **newest, "sent": sent}


def _written(value: tuple[Any, ...], fields: tuple[str, ...]) -> Offset:
    return dict(zip(fields, map(_cell, value), strict=True))


def _cell(value: Any) -> Any:
    """A value as JSON; those of which JSON has no type say which it is."""
    if isinstance(value, datetime.date):  # also a datetime
        kind = "datetime" if isinstance(value, datetime.datetime) else "date"
        return f"{kind}{_MARK}{value.isoformat()}"
    if isinstance(value, str) and _MARK in value:
        return f"str{_MARK}{value}"
    return f"Decimal{_MARK}{value}" if isinstance(value, decimal.Decimal) else value


def _read(offset: Mapping[str, Any], fields: tuple[str, ...]) -> tuple[Any, ...] | None:
    cells = [offset.get(field) for field in fields]
    return None if any(cell is None for cell in cells) else tuple(map(_value_of, cells))


def _value_of(cell: Any) -> Any:
    type_, mark, text = cell.partition(_MARK) if isinstance(cell, str) else ("", "", "")
    return _TYPED[type_](text) if mark and type_ in _TYPED else cell


def _digest(content: list[Any]) -> str:
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _texts(value: tuple[Any, ...]) -> str:
    return ", ".join(map(str, value))
