"""What the status topic says, folded record by record as `KafkaStatusBackingStore` of Kafka Connect does."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.status_topic.records import (
    ConnectorKey,
    State,
    Status,
    StatusKey,
    TaskKey,
    TopicKey,
    TopicStatus,
    parse_key,
)
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunsKey

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConnectorStatus:
    """What is known about a connector.

    :param status: its own; None if there is none.
    :param tasks: by task number. :param topics: those it uses, by name.
    :param changed_ms: timestamp of the newest status of the connector or a task of it; None if there is none.
    """

    status: Status | None = None
    tasks: Mapping[int, Status] = field(default_factory=dict)
    topics: Mapping[str, TopicStatus] = field(default_factory=dict)
    changed_ms: int | None = field(default=None, compare=False)


class StatusTopicState:
    """Folds the records of a status topic. Not thread-safe: a `LogFollower` locks it.

    Records that cannot be read are skipped with a warning, and what was known before stays, as in Connect.
    """

    def __init__(self) -> None:
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[str, dict[int, Status]] = {}
        self._topics: dict[str, dict[str, TopicStatus]] = {}
        self._changed_ms: dict[str, int] = {}
        # A long history is parsed when it is asked for: most records are replaced before that.
        self._runs: dict[str, ConnectorRuns | LogRecord] = {}

    def add(self, record: LogRecord) -> None:
        """Take in the next record of the topic."""
        key = None if record.key is None else parse_key(record.key)
        if key is None:
            log.warning("ignoring a record of the status topic whose key is neither Connect's nor ours: %s", record)
            return
        if isinstance(key, RunsKey):
            self._take_runs(key, record)
            return
        try:
            if isinstance(key, TopicKey):
                self._take_topic(key, TopicStatus.decode(record.value))
            else:
                self._take(key, Status.decode(record.value))
                # Connector and tasks may be in different partitions, which are read in any order.
                newest = self._changed_ms.get(key.connector, record.timestamp_ms)
                self._changed_ms[key.connector] = max(newest, record.timestamp_ms)
        except (ValueError, RecursionError) as error:
            log.warning("ignoring the status at %s with key %s: %s", record, key.encode().decode(), error)

    def get(self, key: StatusKey) -> Status | None:
        """The status of a connector or of a task; None if there is none."""
        if isinstance(key, TaskKey):
            return self._tasks.get(key.connector, {}).get(key.task)
        return self._connectors.get(key.connector)

    def connector(self, name: str) -> ConnectorStatus:
        """A copy of all that is known about a connector."""
        tasks, topics = self._tasks.get(name, {}), self._topics.get(name, {})
        return ConnectorStatus(
            self._connectors.get(name),
            MappingProxyType(dict(sorted(tasks.items()))),
            MappingProxyType(dict(sorted(topics.items()))),
            self._changed_ms.get(name),
        )

    def connectors(self) -> dict[str, ConnectorStatus]:
        """A copy of everything, by connector; also of those that only have tasks or topics."""
        names = {*self._connectors, *self._tasks, *self._topics}
        return {name: self.connector(name) for name in sorted(names)}

    def runs(self, connector: str) -> ConnectorRuns | None:
        """What the runs of a connector have told; None if none has."""
        known = self._runs.get(connector)
        if not isinstance(known, LogRecord):
            return known
        try:
            runs = ConnectorRuns.decode(known.value)
        except (ValueError, RecursionError) as error:
            log.warning("ignoring the runs of connector %s at %s: %s", connector, known, error)
            runs = None
        if runs is None:
            del self._runs[connector]
        else:
            self._runs[connector] = runs
        return runs

    def all_runs(self) -> dict[str, ConnectorRuns]:
        """What all runs have told, by connector, registered or not."""
        return {name: runs for name in sorted(self._runs) if (runs := self.runs(name)) is not None}

    def _take_runs(self, key: RunsKey, record: LogRecord) -> None:
        if record.value is None:
            self._runs.pop(key.connector, None)
        else:
            self._runs[key.connector] = record

    def _take(self, key: StatusKey, status: Status | None) -> None:
        if isinstance(key, ConnectorKey):
            if status is None:
                # Its tasks are gone with it; the topics that it used are not.
                self._connectors.pop(key.connector, None)
                self._tasks.pop(key.connector, None)
            else:
                self._connectors[key.connector] = status
        elif status is None:
            self._remove_task(key)
        elif not _is_stale(status, self.get(key)):
            self._tasks.setdefault(key.connector, {})[key.task] = status

    def _remove_task(self, key: TaskKey) -> None:
        tasks = self._tasks.get(key.connector, {})
        tasks.pop(key.task, None)
        if not tasks:
            self._tasks.pop(key.connector, None)

    def _take_topic(self, key: TopicKey, status: TopicStatus | None) -> None:
        topics = self._topics.setdefault(key.connector, {})
        if status is None:
            topics.pop(key.topic, None)
        else:
            topics[key.topic] = status
        if not topics:
            del self._topics[key.connector]


def _is_stale(new: Status, known: Status | None) -> bool:
    """Whether a worker has released a task after another one had already started it."""
    return (
        new.state is State.UNASSIGNED
        and known is not None
        and known.state is State.RUNNING
        and known.generation >= new.generation
    )
