"""Committed offsets for the eye: Connect's JSON, and the dates of those that are points in time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

# Years 1973 to 2286: an id or a position of a file is hardly ever called a time.
_MS = range(10**11, 10**13)
_US = range(10**14, 10**16)


def offset_text(entry: Mapping[str, Any]) -> str:
    """An entry `{"partition", "offset"}` in one line."""
    dates = ", ".join(f"{key} is {date}" for key, date in _dates(entry["offset"]))
    text = f"{_json(entry['partition'])} -> {_json(entry['offset'])}"
    return f"{text} ({dates})" if dates else text


def short_offset(entry: Mapping[str, Any]) -> str:
    """The same without its partition, as short as it can be: `timestamp 2026-01-01T12:00:00.000Z, incrementing 7`."""
    partition, offset = entry["partition"], entry["offset"]
    if not isinstance(offset, Mapping):
        return _json(offset)
    if "kafka_topic" in partition:
        return f"{partition['kafka_topic']}-{partition['kafka_partition']}@{offset.get('kafka_offset')}"
    dates = dict(_dates(offset))
    return ", ".join(f"{key} {dates.get(key) or _plain(value)}" for key, value in offset.items())


def _dates(offset: Any) -> Iterator[tuple[str, str]]:
    """The keys that are called a time, and are one: in milli- or microseconds since the epoch."""
    for key, value in offset.items() if isinstance(offset, Mapping) else ():
        name = key.lower()
        if type(value) is int and (name.startswith("ts") or "time" in name):
            ms = value if value in _MS else value // 1000 if value in _US else None
            if ms is not None:
                moment = datetime.fromtimestamp(ms / 1000, UTC)
                yield key, moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
