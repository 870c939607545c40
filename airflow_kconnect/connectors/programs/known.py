"""Which schemas the streams of a program have had: learned from its messages, and kept with the offsets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.connector.source import RecordShapes
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.programs.json_types import Rows
from airflow_kconnect.connectors.rows import key_schema
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text

_FACT = "streams"
_KEPT, _LEARNED_MAX = 10, 50


class KnownRows:
    """The schemas of each stream, and the columns of their keys; the newest are last."""

    def __init__(self) -> None:
        self._streams: dict[str, list[tuple[str, tuple[str, ...]]]] = {}

    @classmethod
    def of(cls, text: str) -> KnownRows:
        """:param text: as `text` has it."""
        known = cls()
        for stream, entries in json.loads(text).items():
            known._streams[stream] = [(schema, tuple(keys)) for schema, keys in entries]
        return known

    @property
    def text(self) -> str:
        return json.dumps(self._streams, ensure_ascii=False)

    def add(self, rows: Rows) -> bool:
        """:returns: whether they were not known."""
        entry = schema_text(rows.value), rows.keys
        if rows.value is None or entry in (entries := self._streams.setdefault(rows.stream, [])):
            return False
        entries.append(entry)
        return True

    def learn(self, facts: Iterable[Mapping[str, Any]]) -> None:
        """:param facts: of tasks, or of an earlier run.

        :raises DataError: the schema of a stream changes again and again.
        """
        for each in facts:
            for stream, entries in KnownRows.of(each[_FACT])._streams.items():
                own = self._streams.setdefault(stream, [])
                own += [entry for entry in entries if entry not in own]
                if len(own) > _LEARNED_MAX:
                    text = f"stream {stream} has had more than {_LEARNED_MAX} schemas in one run"
                    raise DataError(f"{text}: leave its records without one")

    @property
    def facts(self) -> dict[str, Any]:
        """What to keep; the oldest schemas are forgotten."""
        kept = {stream: entries[-_KEPT:] for stream, entries in self._streams.items()}
        return {_FACT: json.dumps(kept, ensure_ascii=False)}

    def shapes(self) -> RecordShapes:
        """Those of all streams."""
        keys: dict[Shape, None] = {}
        values: dict[Shape, None] = {}
        for text, names in (entry for entries in self._streams.values() for entry in entries):
            schema = from_json_schema(json.loads(text))
            values[Shape(schema)] = None
            if key := key_schema(schema, names):
                keys[Shape(key)] = None
        return RecordShapes(tuple(keys), tuple(values))


def new_facts(found: Sequence[Rows]) -> dict[str, Any]:
    """What a task has found, for `KnownRows.learn`."""
    known = KnownRows()
    for rows in found:
        known.add(rows)
    return known.facts
