"""The offset topic, folded into what an overview shows of each connector: how many offsets, the newest, its time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.replay import is_of_replay
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.kafka.log_follower import LogFollower
from airflow_kconnect.kafka.log_reader import LogReader
from airflow_kconnect.stores.offset_topic.records import TopicRead, sink_of
from airflow_kconnect.worker_config.keys import WorkerConfig

T = TypeVar("T")

_FIRST_READ_S = 2.0
_READ_S = 20.0


@dataclass
class KnownOffsets:
    """The committed offsets of a source, or of a consumer group.

    :param partitions: how many source partitions or topic-partitions have an offset.
    :param newest: the one that was committed last, as in Connect's REST API; None for a group.
    :param records: of a group: the sum of its offsets.
    :param changed_ms: when the last one was committed.
    """

    partitions: int
    newest: dict[str, Any] | None
    records: int | None
    changed_ms: int


@dataclass
class _Entry:
    partition: Any
    value: bytes
    changed_ms: int


@dataclass
class OffsetTopicState:
    """Folds the records of an offset topic; what cannot be read is left out. A `LogFollower` locks it."""

    _sources: dict[str, dict[str, _Entry]] = field(default_factory=dict)
    _groups: dict[str, dict[str, _Entry]] = field(default_factory=dict)

    def add(self, record: LogRecord) -> None:
        """Take in the next record of the topic."""
        if record.key is None:
            return
        if (sink := sink_of(record.key)) is not None:
            self._take(self._groups, *sink, record, sink[1])
            return
        match _parsed(record.key):
            case [str(name), dict(partition)]:
                self._take(self._sources, name, json.dumps(partition, sort_keys=True), record, partition)

    def sources(self) -> list[str]:
        """The sources that have offsets."""
        return [name for name, entries in self._sources.items() if entries and not is_of_replay(name)]

    def of_source(self, name: str) -> list[dict[str, Any]]:
        """All offsets of a source, as in Connect's REST API."""
        entries = self._sources.get(name, {}).values()
        return [{"partition": entry.partition, "offset": _parsed(entry.value)} for entry in entries]

    def source(self, name: str) -> KnownOffsets | None:
        """The offsets of a source; None if it has none."""
        entries = self._sources.get(name)
        if not entries:
            return None
        newest = max(entries.values(), key=lambda entry: entry.changed_ms)
        shown = {"partition": newest.partition, "offset": _parsed(newest.value)}
        return KnownOffsets(len(entries), shown, None, newest.changed_ms)

    def group(self, name: str) -> KnownOffsets | None:
        """The offsets of a sink by its consumer group; None if it has none."""
        entries = self._groups.get(name)
        if not entries:
            return None
        offsets = [offset for entry in entries.values() for offset in _offsets(entry.value)]
        changed_ms = max(entry.changed_ms for entry in entries.values())
        return KnownOffsets(len(offsets), None, sum(offsets), changed_ms)

    def _take(
        self, known: dict[str, dict[str, _Entry]], owner: str, identity: str, record: LogRecord, partition: Any
    ) -> None:
        entries = known.setdefault(owner, {})
        if record.value is None:
            entries.pop(identity, None)
        else:
            entries[identity] = _Entry(partition, record.value, record.timestamp_ms)


class CommittedOffsets:
    """The offset topic of a worker. Thread-safe; read with the first question.

    Connectors with an `offsets.storage.topic` of their own are not found.

    :param follow: keep reading in the background: for servers. Without it what is new is read by `refresh` only.
    """

    def __init__(self, worker: WorkerConfig, *, follow: bool = True) -> None:
        clients, group = ClientConfigs(worker.props), f"{worker.group_id}-offsets"
        view = LogFollower if follow else LogReader
        self._view: LogFollower[OffsetTopicState] | LogReader[OffsetTopicState] = view(
            clients, worker.offset_topic, OffsetTopicState, group
        )
        self._first_read_s = _FIRST_READ_S if follow else _READ_S
        self._read = False

    def start(self) -> None:
        """Begin to follow the topic, if it is followed, without waiting for it."""
        if isinstance(self._view, LogFollower):
            self._view.start()

    def refresh(self) -> None:
        """Read what is new. :raises RetriableError: the broker is unavailable."""
        self._read = True
        self._view.read_to_end(self._first_read_s, committed=True)

    def of(self, name: str, kind: str, group: str) -> KnownOffsets | None:
        """The committed offsets of a connector; None if there are none, or if they are not known yet."""
        return self._look(lambda state: state.group(group) if kind == "sink" else state.source(name), None)

    def sources(self) -> list[str]:
        """The sources that have offsets, as far as they are known yet."""
        return self._look(OffsetTopicState.sources, [])

    def of_source(self, name: str) -> list[dict[str, Any]]:
        """All offsets of a source as in Connect's REST API, as far as they are known yet."""
        return self._look(lambda state: state.of_source(name), [])

    def close(self) -> None:
        """End the thread."""
        self._view.close()

    def _look(self, ask: Callable[[OffsetTopicState], T], unknown: T) -> T:
        if not self._read:
            self._wait()
        try:
            return self._view.look(ask)
        except ConnectError:
            return unknown

    def _wait(self) -> None:
        """An overview does not wait for long: offsets that are not known yet come with the next one."""
        try:
            self.refresh()
        except ConnectError:
            return


def _offsets(value: bytes) -> list[int]:
    try:
        return [offset for offset in TopicRead.decode(value).offsets if offset is not None]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
