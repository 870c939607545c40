"""Where a connector is: a sink by the offsets of its consumer group, a source by the offset topic.

Meant for polling: the whole process shares clients and what was read before.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.shared import SharedKafka, shared_kafka
from airflow_kconnect.kafka.sink_topics import chosen_topics, named_topics, offset_reset, sink_group
from airflow_kconnect.runs.end import distance, run_start
from airflow_kconnect.stores.offset_topic.records import sink_of
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.stores.positions.looks import Look, Wanted
from airflow_kconnect.stores.target_states import TargetState, decode_target_state, target_state_key
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

log = logging.getLogger(__name__)

_TARGET_STATES = target_state_key("").decode()


@dataclass(frozen=True)
class PartitionPosition:
    """A topic-partition as a sink sees it.

    :param committed: the group's offset; None if it has none.
    :param start: where a run would begin. :param end: where it would stop: the read_committed end.
    :param log_end: where it really ends: an open transaction holds back the records in between.
    :param awaits_run: the sink begins where its first run finds the end: what comes before that run is not read.
    :param first_unread_ms: timestamp of the first record that a run would read; None if there is none, or if not
        requested.
    """

    topic_partition: TopicPartition
    committed: int | None
    start: int
    end: int
    log_end: int
    awaits_run: bool = False
    first_unread_ms: int | None = None

    @property
    def records(self) -> int:
        """How many records a run would read; counted in offsets, as everywhere in Kafka, so transaction markers are
        included.
        """
        return distance(self.start, self.end)

    @property
    def unread(self) -> int:
        """Lag as Kafka's tools count it: includes what an open transaction holds back."""
        return distance(self.start, self.log_end)


@dataclass(frozen=True)
class SinkPosition:
    """All topic-partitions of a sink at one point in time.

    :param missing: topics that the connector names but that do not exist.
    :param now_ms: that point in time, ms since the epoch.
    """

    partitions: tuple[PartitionPosition, ...]
    missing: tuple[str, ...]
    now_ms: int

    def records(self) -> int:
        """How many records a run would read from all partitions together."""
        return sum(partition.records for partition in self.partitions)

    def with_open_transactions(self) -> SinkPosition:
        """The same, as if what open transactions hold back were readable."""
        return replace(self, partitions=tuple(replace(p, end=p.log_end) for p in self.partitions))

    def seconds(self) -> float:
        """Age of the oldest record that a run would read; 0 if there is none."""
        times = [p.first_unread_ms for p in self.partitions if p.records and p.first_unread_ms is not None]
        return max((self.now_ms - min(times, default=self.now_ms)) / 1000, 0.0)

    def awaits_run(self) -> bool:
        """Whether a run has to fix where the sink begins, before there can be anything to read."""
        return any(partition.awaits_run for partition in self.partitions)

    def topic(self, name: str) -> SinkPosition:
        """The same for one topic alone."""
        partitions = tuple(p for p in self.partitions if p.topic_partition.topic == name)
        return SinkPosition(partitions, tuple(topic for topic in self.missing if topic == name), self.now_ms)


@dataclass
class ConnectorPositions:
    """Queries the positions of one connector from Kafka. Its repr shows no values: they may be secrets.

    :param config: the connector's configuration, variables resolved. Only its name, topics and Kafka client settings
        are used, so connectors of a Connect cluster work as well.
    :param worker: worker keys, variables resolved.
    :raises ConfigError: the connector has no name, or a key of the worker or of a client is wrong.
    """

    config: Mapping[str, Any] = field(repr=False)
    worker: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        self._props, errors = texts_of(self.config)
        if errors:
            raise ConfigError(errors)
        self.name = self._props.get("name", "")
        if not self.name:
            raise ConfigError({"name": ["is missing: which connector is it?"]})
        self._worker = WorkerConfig.from_props(self.worker)
        clients = ClientConfigs(self._worker.props, self._props)
        self.group = sink_group(self._props)
        self._kafka = shared_kafka(clients, self.group)
        self._look = Look(self._kafka)

    @property
    def kafka(self) -> SharedKafka:
        """The clients of its Kafka, which are those of all connectors that reach it in the same way."""
        return self._kafka

    @property
    def wanted(self) -> Wanted:
        """What one look at it needs."""
        if not self.is_sink:
            return Wanted(None)
        if "topics.regex" in self._props:
            return Wanted(self.group, by_pattern=self._chosen)
        return Wanted(self.group, tuple(named_topics(self._props)))

    def by(self, look: Look) -> ConnectorPositions:
        """The same connector, with the answers of a look: at several connectors of its `kafka`."""
        found = copy(self)
        found._look = look
        return found

    @property
    def is_sink(self) -> bool:
        """Whether the connector reads topics, which all sinks and no sources do."""
        return "topics" in self._props or "topics.regex" in self._props

    def sink(self, *, timestamps: bool = False) -> SinkPosition:
        """The positions of a sink.

        :param timestamps: also read the first unread record of each partition, unless its timestamp is already known.
        :raises ConfigError: it is a source. :raises RetriableError: the broker is unavailable.
        """
        self._must_be_sink()
        now_ms = int(time.time() * 1000)
        sizes, missing = self._topics()
        topic_partitions = [TopicPartition(topic, p) for topic, size in sizes.items() for p in range(size)]
        committed = self._committed(topic_partitions)  # before the ends: none is beyond them
        bounds = self._look.bounds(topic_partitions)
        partitions = [self._partition(tp, committed.get(tp), bounds[tp]) for tp in sorted(bounds)]
        unread = {p.topic_partition: p.start for p in partitions if p.unread} if timestamps else {}
        first = self._kafka.timestamps(unread) if unread else {}
        dated = tuple(replace(p, first_unread_ms=first.get(p.topic_partition)) for p in partitions)
        return SinkPosition(dated, missing, now_ms)

    def first_offsets_at(self, position: SinkPosition, timestamp_ms: int) -> dict[TopicPartition, int]:
        """The first offset of each partition whose record has this timestamp or a later one; -1 if none has.

        :raises RetriableError: the broker is unavailable.
        """
        topic_partitions = [partition.topic_partition for partition in position.partitions]
        firsts: dict[TopicPartition, int] = {}
        with self._kafka.admin() as admin:
            for topic in sorted({tp.topic for tp in topic_partitions}):
                partitions = [tp.partition for tp in topic_partitions if tp.topic == topic]
                offsets = admin.offsets_at(topic, partitions, timestamp_ms)
                firsts |= {TopicPartition(topic, p): offset for p, offset in offsets.items()}
        return firsts

    def source(self) -> dict[str, Offset]:
        """Committed source offsets by `partition_identity`; none before the first run.

        :raises ConfigError: it is a sink. :raises DataError: an offset of this connector cannot be read.
        :raises RetriableError: the broker is unavailable.
        """
        if self.is_sink:
            text = "makes it a sink, whose offsets are those of topics: ask for kafka_topic and kafka_partition"
            raise ConfigError({"topics": [text]}, self.name)
        topic, view = self._worker.offset_topic_of(self._props), OffsetView(self.name)
        for record in self._look.records(topic, _connector_of_offset, self.name):
            view.add(record)
        return view.offsets

    def target_state(self) -> TargetState:
        """The connector's target state; STARTED if none is recorded.

        :raises RetriableError: the broker is unavailable.
        """
        records = self._look.records(self._worker.config_topic, _connector_of_target_state, self.name)
        for record in records:
            try:
                return decode_target_state(record.value or b"")
            except ValueError as error:
                log.warning("ignoring the target state of connector %s at %s: %s", self.name, record, error)
        return TargetState.STARTED

    def _must_be_sink(self) -> None:
        if not self.is_sink:
            text = (
                "and `topics.regex` are missing, so it is a source: Kafka has no lag for it. To wait for a source"
                " use ConnectorOffsetSensor with `partition` and `offset`"
            )
            raise ConfigError({"topics": [text]}, self.name)

    def _topics(self) -> tuple[dict[str, int], tuple[str, ...]]:
        """The existing topics with their partitions, and those that do not exist."""
        if "topics.regex" not in self._props:
            named = named_topics(self._props)
            sizes = self._look.partitions_of(named)
            return sizes, tuple(sorted(set(named) - set(sizes)))
        existing = self._look.topics()
        return {topic: existing[topic] for topic in self._chosen(existing)}, ()

    def _chosen(self, existing: Mapping[str, int]) -> list[str]:
        return chosen_topics(self._props, existing, internal_topics_of(self._worker))

    def _committed(self, topic_partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The group's offsets; those that it has lost come from the offset topic."""
        committed = self._look.committed(self.group)
        if all(tp in committed for tp in topic_partitions):
            return committed
        records = SinkRecords(self.group)
        for record in self._look.records(self._worker.offset_topic, _connector_of_offset, _of_group(self.group)):
            records.add(record)
        return {**records.offsets(), **committed}

    def _partition(self, topic_partition: TopicPartition, committed: int | None, bounds: Bounds) -> PartitionPosition:
        latest = offset_reset(self._props, self._worker.props) == "latest"
        start = run_start(committed, *bounds, latest=latest)
        awaits_run = latest and committed is None
        return PartitionPosition(topic_partition, committed, start, bounds.end, bounds.log_end, awaits_run)


def _of_group(group: str) -> str:
    """A name that no connector can have."""
    return f"\0{group}"


def _connector_of_offset(key: bytes) -> str | None:
    """The connector of a key ``["<connector>",{...}]``, or the group of a sink; other keys are not needed here."""
    if (sink := sink_of(key)) is not None:
        return _of_group(sink[0])
    try:
        match json.loads(key):
            case ["kconnect", str(), *_]:
                return None
            case [str(name), *_]:
                return name
    except (ValueError, RecursionError):
        return None
    return None


def _connector_of_target_state(key: bytes) -> str | None:
    text = key.decode(errors="replace")
    return text.removeprefix(_TARGET_STATES) if text.startswith(_TARGET_STATES) else None
