"""The offset topic as several connectors see it, from one pass over its records."""

from __future__ import annotations

import json
from collections.abc import Iterable

from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.stores.sink_positions import SinkRecords


class ManyViews:
    """What one pass over an offset topic tells about some of its connectors. Records of others are not kept.

    :param sources: their names. :param groups: consumer groups of sinks.
    """

    def __init__(self, sources: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        self.sources = {name: OffsetView(name) for name in sources}
        self.sinks = {group: SinkRecords(group) for group in groups}

    def add(self, record: LogRecord) -> None:
        """Process one record of the topic; see `OffsetView.add`."""
        match _parsed(record.key):
            case ["kconnect", "sink", str(group), *_]:
                if (sink := self.sinks.get(group)) is not None:
                    sink.add(record)
            case ["kconnect", str(), str(name), *_] | [str(name), *_]:
                if (source := self.sources.get(name)) is not None:
                    source.add(record)


def _parsed(key: bytes | None) -> object:
    try:
        return json.loads(key or b"null")
    except (ValueError, RecursionError):
        return None
