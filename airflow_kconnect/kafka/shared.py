"""Kafka clients shared by all sensors and triggers of a process: polling costs requests, not connections.

A triggerer waits for hundreds of connectors at a time. They share one admin client per client configuration, one copy
of each compacted topic, and a cache of records that never change. All of it is thread-safe and bounded.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.errors import translate, translated
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.polling_admin import PollingAdmin

TIMEOUT_S = 10.0
# While a cluster is unavailable, all other callers fail at once instead of waiting in turn.
UNAVAILABLE_S = 10.0
MOST_CLUSTERS = 16
_MOST_TIMESTAMPS = 10_000
_CLIENT_ID = "kconnect-polling"
# One record is wanted, not a whole queue.
_ONE_RECORD = {"queued.min.messages": 1, "queued.max.messages.kbytes": 1024, "fetch.message.max.bytes": 65_536}

Group = Callable[[bytes], str | None]


class TopicTable:
    """An in-memory copy of a compacted topic: the newest record of each key, up to the first open transaction.

    :param group: maps a key to its group; keys mapped to None are dropped.
    """

    def __init__(self, log: CompactedLog, admin: PollingAdmin, topic: str, group: Group) -> None:
        self._log, self._admin, self._topic, self._group = log, admin, topic, group
        self._lock = threading.RLock()
        self._records: dict[str, dict[tuple[bytes, int], LogRecord]] = {}

    def records(self, group: str) -> list[LogRecord]:
        """The current records of a group; none if there is no such topic.

        :raises RetriableError: the broker is unavailable.
        """
        with self._lock:
            self.read()
            return self.known(group)

    def read(self) -> None:
        """Read what is new. :raises RetriableError: the broker is unavailable."""
        with self._lock:
            partitions = self._admin.partitions_of([self._topic]).get(self._topic, 0)
            self._log.read(range(partitions), self._take, committed=True)

    def known(self, group: str) -> list[LogRecord]:
        """The records of a group as they were last read."""
        with self._lock:
            return list(self._records.get(group, {}).values())

    def _take(self, record: LogRecord) -> None:
        group = None if record.key is None else self._group(record.key)
        if group is None or record.key is None:
            return
        members = self._records.setdefault(group, {})
        if record.value is None:
            members.pop((record.key, record.partition), None)
        else:
            members[record.key, record.partition] = record


class SharedKafka:
    """The clients of one configuration; get it from `shared_kafka`.

    :param consumer_config: for reading single records and compacted topics; it does not join a group.
    """

    def __init__(self, admin_config: Mapping[str, Any], consumer_config: Mapping[str, Any]) -> None:
        self._admin_config, self._consumer_config = dict(admin_config), dict(consumer_config)
        self._lock = threading.Lock()
        self._admin: PollingAdmin | None = None
        self._tables: dict[str, TopicTable] = {}
        self._unavailable: tuple[float, str] = (0.0, "")
        self._timestamps: OrderedDict[tuple[TopicPartition, int], int] = OrderedDict()

    @contextmanager
    def admin(self) -> Iterator[PollingAdmin]:
        """The admin client, connected. If a request finds the cluster unavailable, the next caller reconnects.

        :raises RetriableError: no broker answers; for the next `UNAVAILABLE_S` seconds this is raised at once.
        """
        admin = self._connected()
        admin.forget_errors()
        try:
            yield admin
        except RetriableError:
            with self._lock:
                if self._admin is admin:
                    self._admin = None
                    self._tables.clear()
            raise

    def _connected(self) -> PollingAdmin:
        with self._lock:
            if self._admin is None:
                until, why = self._unavailable
                if time.monotonic() < until:
                    raise RetriableError(why)
                admin = PollingAdmin(self._admin_config, TIMEOUT_S)
                try:
                    admin.check_reachable()
                except RetriableError as error:
                    self._unavailable = (time.monotonic() + UNAVAILABLE_S, str(error))
                    raise
                self._admin = admin
            return self._admin

    def table(self, topic: str, group: Group) -> TopicTable:
        """The copy of a compacted topic; use it inside `admin`."""
        admin = self._connected()
        with self._lock:
            if topic not in self._tables:
                log = CompactedLog(admin, self._consumer_config, topic, patience_s=TIMEOUT_S)
                self._tables[topic] = TopicTable(log, admin, topic, group)
            return self._tables[topic]

    def timestamps(self, starts: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Timestamps (ms) of the first record at or after each offset, open transactions included; partitions without
        one are left out.

        :raises RetriableError: the broker is unavailable.
        """
        with self._lock:
            timestamps = {p: self._timestamps[p, at] for p, at in starts.items() if (p, at) in self._timestamps}
        unknown = {tp: at for tp, at in starts.items() if tp not in timestamps}
        if unknown:
            read = _first_timestamps({**self._consumer_config, "isolation.level": "read_uncommitted"}, unknown)
            with self._lock:
                self._timestamps.update({(tp, starts[tp]): ms for tp, ms in read.items()})
                while len(self._timestamps) > _MOST_TIMESTAMPS:
                    self._timestamps.popitem(last=False)
            timestamps |= read
        return timestamps


_clusters: OrderedDict[tuple[frozenset[Any], frozenset[Any]], SharedKafka] = OrderedDict()
_clusters_lock = threading.Lock()


def shared_kafka(clients: ClientConfigs, group: str) -> SharedKafka:
    """This process's clients for a configuration; the least recently used ones are evicted.

    :param group: a group name that the principal may use; nothing is committed, and no consumer joins it.
    :raises ConfigError: a client setting is not supported.
    """
    admin = clients.admin() | {"client.id": _CLIENT_ID}
    consumer = clients.consumer(group) | {"client.id": _CLIENT_ID}
    key = frozenset(admin.items()), frozenset((consumer | {"group.id": ""}).items())
    with _clusters_lock:
        shared = _clusters.pop(key, None) or SharedKafka(admin, consumer)
        _clusters[key] = shared
        while len(_clusters) > MOST_CLUSTERS:
            _clusters.popitem(last=False)
        return shared


def _first_timestamps(config: Mapping[str, Any], starts: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    timestamps: dict[TopicPartition, int] = {}
    waiting = set(starts)
    consumer = Consumer({**config, **_ONE_RECORD})
    deadline = time.monotonic() + TIMEOUT_S
    try:
        consumer.assign([KafkaTopicPartition(tp.topic, tp.partition, at) for tp, at in starts.items()])
        while waiting:
            for message in consumer.consume(len(waiting), timeout=0.1):
                topic_partition = TopicPartition(message.topic(), message.partition())
                timestamp = _timestamp(message)
                if timestamp is not None and topic_partition in waiting:
                    timestamps[topic_partition] = timestamp
                waiting.discard(topic_partition)
                consumer.pause([KafkaTopicPartition(topic_partition.topic, topic_partition.partition)])
            if waiting and time.monotonic() > deadline:
                names = ", ".join(map(str, sorted(waiting)))
                raise RetriableError(f"reading the first unread record of {names}: no answer within {TIMEOUT_S:.0f} s")
    except KafkaException as error:
        raise translated(error, "reading the first unread records") from error
    finally:
        consumer.close()
    return timestamps


def _timestamp(message: Message) -> int | None:
    """None at the end of the partition, and for records without a timestamp."""
    error = message.error()
    if error is None:
        timestamp: int = message.timestamp()[1]
        return timestamp if timestamp >= 0 else None
    if error.code() != KafkaError._PARTITION_EOF:
        raise translate(error, f"reading {message.topic()}-{message.partition()}")
    return None
