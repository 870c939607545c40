"""The offset topic as a run sees it: committed source offsets, the unfinished plan, the progress of its splits."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.canonical import partition_identity
from airflow_kconnect.connect.connector import Offset
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.stores.records import Marker, PlanRecord, offset_key

log = logging.getLogger(__name__)


@dataclass
class StoredOffset:
    """The newest offset of a source partition, and the keys under which the topic has it.

    :param keys: key bytes -> the record; more than one if the same map was written with another member order.
    """

    source_partition: dict[str, Any]
    offset: Offset | None
    record: LogRecord
    keys: dict[bytes, LogRecord] = field(default_factory=dict)


class OffsetView:
    """What the offset topic says of one connector; fed by `CompactedLog.read`.

    :raises DataError: (from `add`) when a record of this connector cannot be read. It is never skipped: a run that
        silently starts from the beginning would double everything. Foreign records that make no sense are skipped
        with a warning, as Connect does.
    """

    def __init__(self, connector: str) -> None:
        self._connector = connector
        self._stored: dict[str, StoredOffset] = {}
        self.plan: PlanRecord | None = None
        self.markers: dict[int, Marker] = {}
        self.facts: dict[str, dict[str, Any]] = {}

    def add(self, record: LogRecord) -> None:
        """Take in one record of the topic."""
        match self._parse_key(record):
            case [str(name), dict(partition)] if name == self._connector:
                self._add_offset(record, partition)
            case ["kconnect", "plan", str(name)] if name == self._connector:
                self.plan = self._decoded(record, PlanRecord.decode)
            case ["kconnect", "split", str(name), str(split)] if name == self._connector:
                self._add_marker(record, int(split))
            case ["kconnect", "facts", str(name), str(identity)] if name == self._connector:
                self.facts[identity] = self._decoded(record, json.loads) or {}
            case ["kconnect", "plan" | "split" | "facts", *_]:
                return  # of another connector
            case [str(name), *_] if name == self._connector:
                raise DataError(self._unreadable(record, "its key is not [connector, source partition]"))

    def _parse_key(self, record: LogRecord) -> Any:
        try:
            return json.loads(record.key or b"null")
        except ValueError:
            log.warning("ignoring record with a key that is not JSON: %s", record)
            return None

    def _decoded(self, record: LogRecord, decode: Any) -> Any:
        if record.value is None:
            return None
        try:
            return decode(record.value)
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(self._unreadable(record, f"its value is unknown to this version ({error})")) from error

    def _add_marker(self, record: LogRecord, split: int) -> None:
        marker = self._decoded(record, Marker.decode)
        if marker is None:
            self.markers.pop(split, None)
        else:
            self.markers[split] = marker

    def _add_offset(self, record: LogRecord, partition: dict[str, Any]) -> None:
        assert record.key is not None
        offset = self._parse_offset(record, partition)
        identity = partition_identity(partition)
        known = self._stored.setdefault(identity, StoredOffset(partition, offset, record))
        twin = known.keys.get(record.key)
        elsewhere = twin is not None and twin.partition != record.partition
        if twin is not None and elsewhere and twin.value is not None and record.value is not None:
            raise DataError(
                f"the offset of source partition {identity} of connector {self._connector} is both at {twin} and at"
                f" {record}: they were written with different partitioners. Delete the wrong one (write a null value"
                " with the same key to its partition), then run again"
            )
        known.keys[record.key] = record
        # Other spellings of the key lie in other partitions, where only time tells which is newer.
        if (record.timestamp_ms, record.offset) >= (known.record.timestamp_ms, known.record.offset):
            known.offset, known.record = offset, record

    def _parse_offset(self, record: LogRecord, partition: Mapping[str, Any]) -> Offset | None:
        if record.value is None:
            return None
        try:
            offset = json.loads(record.value)
        except ValueError:
            offset = record.value
        if offset is None:
            return None
        if not isinstance(offset, dict) or any(isinstance(value, dict | list) for value in offset.values()):
            where = f"the offset of source partition {json.dumps(partition)} is not a flat JSON object"
            raise DataError(self._unreadable(record, where))
        return offset

    def _unreadable(self, record: LogRecord, what: str) -> str:
        return (
            f"offset record of connector {self._connector} at {record} cannot be read: {what}. Write the right offset"
            " (or a null value, to start from the beginning) with the same key, then run again"
        )

    @property
    def offsets(self) -> dict[str, Offset]:
        """`partition_identity` -> committed offset."""
        return {key: stored.offset for key, stored in self._stored.items() if stored.offset is not None}

    def offset_keys(self, source_partition: Mapping[str, Any]) -> tuple[bytes, list[bytes]]:
        """The key to write this partition's offset with, and the keys of older spellings to delete.

        Connect compares keys byte for byte, and its member order is that of a Java map: a key that is there already
        is used again as it is.
        """
        stored = self._stored.get(partition_identity(source_partition))
        if stored is None or stored.record.key is None:
            return offset_key(self._connector, source_partition), []
        current = stored.record.key
        return current, [key for key, record in stored.keys.items() if key != current and record.value is not None]

    def committed(self) -> Iterator[tuple[dict[str, Any], Offset]]:
        """(source partition, offset) pairs."""
        for stored in self._stored.values():
            if stored.offset is not None:
                yield stored.source_partition, stored.offset


def read_view(topic_log: CompactedLog, connector: str, partitions: int) -> OffsetView:
    """Read the whole offset topic for one connector."""
    view = OffsetView(connector)
    topic_log.read(range(partitions), view.add)
    return view
