"""Random changes of a table, the messages that Debezium and others write for them, and the rows that are left."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from confluent_kafka import Producer

Style = Literal["rows", "envelopes", "operations"]
Row = dict[str, Any]
Message = tuple[Any, Any]
"""Key and value; None: there is no value."""

_KEYS = 12
_TEXTS = ("", "a", "tab\tline\nü", "null", None)


def struct(called: str | None = None, optional: bool = False, **fields: Any) -> dict[str, Any]:
    """A schema in JsonConverter's words; a field is the name of its type, with ``?`` if it may be null, or a schema."""
    members = [
        {**(kind if isinstance(kind, dict) else {"type": kind.rstrip("?"), "optional": kind.endswith("?")}), "field": n}
        for n, kind in fields.items()
    ]
    return {"type": "struct", "optional": optional, "fields": members, **({"name": called} if called else {})}


def message(schema: Mapping[str, Any], payload: Any) -> str:
    """Data with their schema, as JsonConverter writes them."""
    return json.dumps({"schema": schema, "payload": payload}, separators=(",", ":"))


_COLUMNS: dict[str, Any] = {"id": "int32", "name": "string?", "size": "int64?"}
KEY, ROW = struct(id="int32"), struct(**_COLUMNS)
_OPERATION = struct(**_COLUMNS, _cdc=struct(op="string", optional=True))
_SIDE = struct("shop.public.items.Value", optional=True, **_COLUMNS)
_SOURCE = struct("io.debezium.connector.postgresql.Source", table="string", lsn="int64?", ts_ms="int64")
ENVELOPE = struct("shop.public.items.Envelope", before=_SIDE, after=_SIDE, source=_SOURCE, op="string", ts_ms="int64?")


@dataclass(frozen=True)
class Change:
    """A change of one row; that of a key is a deletion, and a row that is created."""

    op: Literal["c", "r", "u", "d"]
    before: Row | None
    after: Row | None

    @property
    def key(self) -> int:
        return int((self.after or self.before or {})["id"])

    def messages(self, style: Style) -> Iterator[Message]:
        """What is written for it.

        :param style: ``rows`` and tombstones; Debezium's ``envelopes``, with a tombstone after each deletion; rows that
            have their ``operations``.
        """
        key = message(KEY, {"id": self.key})
        if style == "rows":
            yield key, None if self.after is None else message(ROW, self.after)
        elif style == "operations":
            row = self.after or self.before or {}
            yield None, message(_OPERATION, {**row, "_cdc": {"op": {"c": "I", "r": "I"}.get(self.op, self.op.upper())}})
        else:
            source = {"table": "items", "lsn": 1, "ts_ms": 2}
            event = {"before": self.before, "after": self.after, "source": source, "op": self.op, "ts_ms": 3}
            yield key, message(ENVELOPE, event)
            if self.after is None:
                yield key, None


@dataclass
class ChangedTable:
    """A table that changes at random.

    :param seed: the same one makes the same changes.
    """

    seed: int
    rows: dict[int, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    @property
    def expected(self) -> list[tuple[Any, ...]]:
        """Its rows, by key."""
        return [tuple(self.rows[key].values()) for key in sorted(self.rows)]

    def changes(self, count: int) -> Iterator[Change]:
        """Some more changes. Keys are few, so that most of them are changed again soon."""
        for _ in range(count):
            yield from self._change(self._random.randrange(_KEYS))

    def _change(self, key: int) -> Iterator[Change]:
        before, kind = self.rows.get(key), self._random.random()
        if before is None:
            yield self._stored(Change("r" if kind < 0.2 else "c", None, self._row(key)))
        elif kind < 0.35:
            yield self._stored(Change("d", before, None))
        elif kind < 0.5 and (new := self._random.randrange(_KEYS)) not in self.rows:
            yield self._stored(Change("d", before, None))
            yield self._stored(Change("c", None, before | {"id": new}))
        else:
            yield self._stored(Change("u", before, self._row(key)))

    def _stored(self, change: Change) -> Change:
        if change.after is None:
            del self.rows[change.key]
        else:
            self.rows[change.key] = change.after
        return change

    def _row(self, key: int) -> Row:
        return {"id": key, "name": self._random.choice(_TEXTS), "size": self._random.choice((None, 0, 1 << 40))}


def send(bootstrap: str, topic: str, messages: Iterator[tuple[int, Message]]) -> None:
    """Write messages to partitions."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1})
    for partition, (key, value) in messages:
        producer.produce(topic, value, key, partition)
        producer.poll(0)
    assert producer.flush(30) == 0
