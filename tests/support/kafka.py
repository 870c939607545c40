"""Kafka for tests: create topics, write to them, and read a whole topic back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
    TopicMetadata,
)

from airflow_kconnect.kafka.admin import KafkaAdmin
from tests.support import unique

MARKERS_S = 6.0  # on a slow machine
Headers = list[tuple[str, bytes | None]]
T = TypeVar("T")


class Record(NamedTuple):
    """A record as it is in the topic; the timestamp is in epoch milliseconds."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int


def _silent(bootstrap: str) -> dict[str, Any]:
    """Of clients that may outlive their broker."""
    return {"bootstrap.servers": bootstrap, "log_level": 2}


@lru_cache(maxsize=1)
def _client(bootstrap: str) -> AdminClient:
    """The client for the broker that was asked last: to connect costs more than most requests."""
    return AdminClient(_silent(bootstrap))


@lru_cache(maxsize=1)
def _admin(bootstrap: str) -> KafkaAdmin:
    return KafkaAdmin(_silent(bootstrap))


@lru_cache(maxsize=1)
def _producer(bootstrap: str) -> Producer:
    # A new topic refuses a first batch now and then: the next one must not be before it.
    return Producer({**_silent(bootstrap), "linger.ms": 1, "max.in.flight": 1})


def forget_clients() -> None:
    """Before a broker ends, and after a topic has: clients remember what there was."""
    for cached in (_client, _admin, _producer):
        cached.cache_clear()


def create_topic(bootstrap: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
    """Create a topic with one replica and return its name once it is writable."""
    admin = _client(bootstrap)
    new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
    admin.create_topics([new], operation_timeout=20)[name].result(30)
    _await_partitions(admin, name, partitions)
    return name


def delete_topic(bootstrap: str, name: str) -> None:
    """Delete a topic and return once the broker knows it no longer."""
    admin = _client(bootstrap)
    admin.delete_topics([name], operation_timeout=30)[name].result(30)
    assert eventually(lambda: name in admin.list_topics(timeout=20).topics, False) is False
    forget_clients()


def add_partitions(bootstrap: str, name: str, total: int) -> None:
    """Give a topic more partitions and return once they can be written to."""
    admin = _client(bootstrap)
    admin.create_partitions([NewPartitions(name, total)])[name].result(30)
    _await_partitions(admin, name, total)
    forget_clients()


def change_setting(bootstrap: str, name: str, key: str, value: str) -> None:
    """Change a setting of a topic and return once the broker has it."""
    entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
    admin = _client(bootstrap)
    admin.incremental_alter_configs([resource])[resource].result(30)
    assert eventually(lambda: admin.describe_configs([resource])[resource].result(30)[key].value, value) == value


def _await_partitions(admin: AdminClient, name: str, count: int) -> None:
    """Brokers learn a moment after a request was accepted what it has changed."""
    deadline = time.monotonic() + 20
    while len(admin.list_topics(name, timeout=20).topics.get(name, TopicMetadata()).partitions or ()) < count:
        assert time.monotonic() < deadline, f"topic {name} does not show up within 20 s"
        time.sleep(0.01)


def produce(
    bootstrap: str,
    topic: str,
    values: Iterable[bytes | str | None],
    *,
    key: bytes | str | None = None,
    partition: int = -1,
    headers: Headers | None = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Write values and wait until the broker has all of them.

    :param settings: additional settings of the producer. With a `transactional.id` all values are in one transaction,
        which readers see then.
    """
    ours = {"bootstrap.servers": bootstrap, "linger.ms": 1}
    producer = Producer({**ours, **settings}) if settings else _producer(bootstrap)
    transactional = "transactional.id" in (settings or {})
    if transactional:
        producer.init_transactions(30)
        producer.begin_transaction()
    failures: list[KafkaError] = []
    for value in values:
        producer.produce(
            topic,
            value,
            key,
            partition,
            headers=headers or [],
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
        producer.poll(0)
    assert producer.flush(30) == 0, "records were not delivered within 30 s"
    assert not failures, failures[0]
    if transactional:
        producer.commit_transaction(30)
        known = producer.list_topics(topic, timeout=30).topics[topic].partitions
        _wait_for_markers(_admin(bootstrap), topic, list(known))


def read_all(bootstrap: str, topic: str, *, committed: bool = True) -> list[Record]:
    """Every record currently in a topic, by partition and offset.

    :param committed: False also reads records of open and aborted transactions.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": unique("reader"),
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        }
    )
    try:
        ends = {}
        partitions = list(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
        if committed:
            _wait_for_markers(_admin(bootstrap), topic, partitions)
        for partition in partitions:
            ends[partition] = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)[1]
        consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
        return sorted(_until(consumer, ends))
    finally:
        consumer.close()


def read_values(bootstrap: str, topic: str) -> list[bytes | None]:
    """The committed values of a topic, by partition and offset."""
    return [record.value for record in read_all(bootstrap, topic)]


def _wait_for_markers(admin: KafkaAdmin, topic: str, partitions: list[int]) -> None:
    """A commit returns before the broker has informed all partitions; a transaction may also stay open for good."""
    deadline = time.monotonic() + MARKERS_S
    while time.monotonic() < deadline:
        seen, written = (admin.end_offsets(topic, partitions, committed=committed) for committed in (True, False))
        if seen == written:
            return
        time.sleep(0.05)


def _until(consumer: Consumer, ends: Mapping[int, int]) -> list[Record]:
    """Records below the ends. A partition may end with offsets that hold no record, and may grow meanwhile."""
    records = []
    waiting = set(ends)
    while waiting:
        message = consumer.poll(30)
        assert message is not None, f"no end of partitions {sorted(waiting)} within 30 s"
        error = message.error()
        partition = message.partition()
        if error is None and message.offset() < ends[partition]:
            records.append(_record(message))
        elif error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is not None or message.offset() + 1 >= ends[partition]:
            waiting.discard(partition)
    return records


def _record(message: Message) -> Record:
    return Record(
        message.partition(),
        message.offset(),
        message.key(),
        message.value(),
        message.headers() or [],
        message.timestamp()[1],
    )


def eventually(ask: Callable[[], T], wanted: T) -> T:
    """The answer to a question about something that was just committed, asked until it is the one that is wanted.

    A broker says that a transaction is committed a moment before readers see it.
    """
    deadline = time.monotonic() + 10 * MARKERS_S
    while (answer := ask()) != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer
