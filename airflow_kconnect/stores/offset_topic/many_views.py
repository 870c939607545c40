"""The offset topic as several connectors see it, from one pass over its records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.offset_topic.view import OffsetView


@dataclass(frozen=True)
class ReadBefore:
    """What was read of an offset topic for a source: its run, which has to read what came since, begins there.

    :param topic_id: of the topic when that began: another one has other records.
    :param positions: partition -> next offset to read. :param view: is the run's from now on.
    """

    topic: str
    topic_id: str
    positions: Mapping[int, int]
    view: OffsetView


class ManyViews:
    """What one pass over an offset topic tells about some of its connectors. Records of others are not kept.

    :param sources: their names. :param groups: consumer groups of sinks.
    """

    def __init__(self, sources: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        self.sources = {name: OffsetView(name) for name in sources}
        self.sinks = {group: SinkRecords(group) for group in groups}
        self._owners: set[str | None] = set()  # two of them are enough

    def add(self, record: LogRecord) -> None:
        """Process one record of the topic; see `OffsetView.add`."""
        owner = None
        match _parsed(record.key):
            case ["kconnect", "sink", str(group), *_]:
                if (sink := self.sinks.get(group)) is not None:
                    sink.add(record)
            case ["kconnect", str(), str(name), *_] | [str(name), *_]:
                owner = name
                if (source := self.sources.get(name)) is not None:
                    source.add(record)
        if len(self._owners) < 2:
            self._owners.add(owner)

    def note_others(self) -> None:
        """Have each view know whether there are records of others, of which it has seen none."""
        for name, view in self.sources.items():
            view.has_others = view.has_others or any(owner != name for owner in self._owners)


def _parsed(key: bytes | None) -> object:
    try:
        return json.loads(key or b"null")
    except (ValueError, RecursionError):
        return None
