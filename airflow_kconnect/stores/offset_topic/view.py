"""The offset topic as a run sees it: committed source offsets, the unfinished plan, the progress of its splits."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.stores.offset_topic.records import Claim, Marker, PlanRecord, offset_key

log = logging.getLogger(__name__)

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
_T = TypeVar("_T")


class OffsetView:
    """What the offset topic holds for one connector.

    The last record of each key wins. If such a record of this connector cannot be read, a `DataError` is raised when it
    is accessed: a run that silently started from the beginning would duplicate everything. Unreadable records of other
    connectors are skipped with a warning, as in Connect.
    """

    def __init__(self, connector: str) -> None:
        self._connector = connector
        # source partition -> the last record of each of its keys, by key and Kafka partition
        self._records: dict[str, dict[tuple[bytes, int], LogRecord]] = {}
        self._partitions: dict[str, dict[str, Any]] = {}
        self._unread: dict[tuple[bytes | None, int], DataError] = {}
        # our own records: key -> the last record in each Kafka partition
        self._own: dict[bytes, dict[int, LogRecord]] = {}
        self.claim: Claim | None = None
        self.plan: PlanRecord | None = None
        self.markers: dict[int, Marker] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.is_new = True
        """Whether the connector has no records but claims: no run has planned or committed, nor were offsets reset."""
        self.has_others = False
        """Whether there are records of others."""

    def read(self, topic_log: CompactedLog, partitions: Iterable[int], *, committed: bool = False) -> None:
        """Read what is new in the topic.

        :param committed: see `CompactedLog.read`.
        :raises DataError: a current plan, marker, key or fact of this connector cannot be read.
        """
        topic_log.read(partitions, self.add, committed=committed)
        self.check_readable()

    def add(self, record: LogRecord) -> None:
        """Process one record of the topic. Unreadable records of our own are reported by `check_readable`."""
        key = (record.key, record.partition)
        self._unread.pop(key, None)
        try:
            self._add(record)
        except DataError as error:
            if record.value is not None:
                self._unread[key] = error

    def check_readable(self) -> None:
        """:raises DataError: a current plan, marker, key or fact of this connector cannot be read."""
        for error in self._unread.values():
            raise error

    def _add(self, record: LogRecord) -> None:
        key = self._parse_key(record)
        self._note_whose(key, record)
        match key:
            case ["kconnect", "sink", *_]:
                return  # of consumer groups
            case ["kconnect", str(what), str(name), *rest]:
                if name == self._connector:
                    self._add_own(record, what, rest)
            case [str(name), dict(partition)]:
                if name == self._connector:
                    self._add_offset(record, partition)
            case [str(name), *_] if name == self._connector:
                raise DataError(self._unreadable(record, "its key is not [connector, source partition]"))
            case _:
                log.warning("ignoring a record whose key is not [connector, source partition]: %s", record)

    def _note_whose(self, key: Any, record: LogRecord) -> None:
        match key:
            case ["kconnect", "claim", self._connector] if record.value is not None:
                pass
            case ["kconnect", "claim" | "plan" | "split" | "facts", self._connector, *_] | [self._connector, *_]:
                self.is_new = False
            case _:
                self.has_others = True

    def _parse_key(self, record: LogRecord) -> Any:
        try:
            return json.loads(record.key or b"null")
        except _UNREADABLE:
            return None

    def _add_own(self, added: LogRecord, what: str, rest: list[Any]) -> None:
        """If a key is in several Kafka partitions because partitions were added to the topic, the newest wins."""
        assert added.key is not None
        twins = self._own.setdefault(added.key, {})
        twins[added.partition] = added
        for partition in twins:
            self._unread.pop((added.key, partition), None)
        record = max(twins.values(), key=_age)
        match what, rest:
            case "claim", []:
                self.claim = self._decoded(record, Claim.decode)
            case "plan", []:
                self.plan = self._decoded(record, PlanRecord.decode)
            case "split", [str(split)] if split.isdecimal():
                marker = self._decoded(record, Marker.decode)
                self.markers.pop(int(split), None)
                if marker is not None:
                    self.markers[int(split)] = marker
            case "facts", [str(identity)]:
                facts = self._decoded(record, _flat_map)
                self.facts.pop(identity, None)
                if facts is not None:
                    self.facts[identity] = facts
            case _:
                raise DataError(self._unreadable(record, "its key is unknown to this version"))

    def _decoded(self, record: LogRecord, decode: Callable[[bytes], _T | None]) -> _T | None:
        if record.value is None:
            return None
        try:
            return decode(record.value)
        except _UNREADABLE as error:
            raise DataError(self._unreadable(record, f"its value is unknown to this version ({error})")) from error

    def _add_offset(self, record: LogRecord, partition: dict[str, Any]) -> None:
        assert record.key is not None
        identity = partition_identity(partition)
        self._partitions[identity] = partition
        self._records.setdefault(identity, {})[record.key, record.partition] = record

    def _current(self, identity: str) -> LogRecord | None:
        """The record that holds the partition's offset.

        The same map can have several keys, with its members in a different order, in several Kafka partitions; then
        only the timestamps tell which is newest.

        :raises DataError: one key has values in two Kafka partitions: they were written with different partitioners.
        """
        live = [record for record in self._records.get(identity, {}).values() if record.value is not None]
        by_key: dict[bytes | None, LogRecord] = {}
        for record in live:
            twin = by_key.setdefault(record.key, record)
            if twin is not record:
                raise DataError(
                    f"the offset of source partition {identity} of connector {self._connector} is both at {twin} and at"
                    f" {record}: they were written with different partitioners. Delete the wrong one (write a null"
                    " value with the same key to its partition), then run again"
                )
        return max(live, key=_age, default=None)

    def _offset(self, identity: str) -> Offset | None:
        record = self._current(identity)
        if record is None or record.value is None:
            return None
        try:
            return _flat_map(record.value)
        except _UNREADABLE as error:
            where = f"the offset of source partition {identity} is not a flat JSON object"
            raise DataError(self._unreadable(record, where)) from error

    def _unreadable(self, record: LogRecord, what: str) -> str:
        return (
            f"offset record of connector {self._connector} at {record} cannot be read: {what}. Write the right offset"
            " (or a null value, to start from the beginning) with the same key, then run again"
        )

    @property
    def tasks(self) -> int:
        """How many transactional ids an unfinished plan may have in use."""
        return self.plan.tasks if self.plan else 0

    def of_runs(self) -> list[tuple[bytes, int]]:
        """(key, Kafka partition) of every existing claim, plan and marker, in whichever partition it is."""
        return [
            (key, partition)
            for key, twins in self._own.items()
            for partition, record in twins.items()
            if record.value is not None and json.loads(key)[1] != "facts"
        ]

    @property
    def offsets(self) -> dict[str, Offset]:
        """`partition_identity` -> committed offset. :raises DataError: one cannot be read."""
        offsets = {identity: self._offset(identity) for identity in self._records}
        return {identity: offset for identity, offset in offsets.items() if offset is not None}

    def offset_keys(self, source_partition: Mapping[str, Any]) -> tuple[bytes, list[bytes]]:
        """The key to write this partition's offset with, and the keys of older spellings to delete.

        Connect compares keys byte for byte, and their member order is that of a Java map: an existing key is reused as
        it is.
        """
        identity = partition_identity(source_partition)
        current = self._current(identity)
        if current is None or current.key is None:
            return offset_key(self._connector, source_partition), []
        records = self._records[identity].values()
        outdated = {record.key for record in records if record.value is not None and record.key != current.key}
        return current.key, sorted(key for key in outdated if key is not None)

    def committed(self) -> Iterator[tuple[dict[str, Any], Offset]]:
        """(source partition, offset) pairs."""
        for identity, offset in self.offsets.items():
            yield self._partitions[identity], offset


def _age(record: LogRecord) -> tuple[int, int]:
    return record.timestamp_ms, record.offset


def _flat_map(value: bytes) -> dict[str, Any] | None:
    """A flat JSON object, or None for JSON null. :raises ValueError: it is neither."""
    data = json.loads(value)
    if data is None:
        return None
    if not isinstance(data, dict) or any(isinstance(member, dict | list) for member in data.values()):
        raise ValueError("not a flat JSON object")
    return data


def read_view(topic_log: CompactedLog, connector: str, partitions: int) -> OffsetView:
    """Read the whole offset topic for one connector. :raises DataError: see `OffsetView.read`."""
    view = OffsetView(connector)
    view.read(topic_log, range(partitions))
    return view
