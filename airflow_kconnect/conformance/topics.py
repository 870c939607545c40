"""The Kafka side of a check: what has arrived in topics, and records for sinks to read."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from airflow_kconnect.conformance.harness import Arrived
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import TopicPartition as Place
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs

_MARKERS_S = 10.0
_PATIENCE_S = 30.0
_LARGEST = "20000000"
_LEFT_OUT = re.compile(r"^__|conformance-[0-9a-f]{8}")


def name_of_trial() -> str:
    """A name that no connector and no topic has."""
    return f"conformance-{uuid.uuid4().hex[:8]}"


class Topics:
    """Topics of a Kafka cluster, as the kit uses them.

    :param worker: the worker's keys.
    """

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._clients = ClientConfigs(worker, name="conformance")
        self._admin = KafkaAdmin(self._clients.admin())

    def create(self, topic: str) -> None:
        """Create a topic with one partition that takes large records."""
        self._admin.create_topic(topic, 1, settings={"max.message.bytes": _LARGEST})

    def remove(self, part: str) -> None:
        """Remove topics that have a part in their names: what only those of one trial have."""
        self._admin.delete_topics(name for name in self._admin.topics() if part in name)

    def ends(self) -> dict[Place, int]:
        """Where topics end now for readers of committed records. Those of Kafka itself are left out, and those of
        trials: they begin with their trial, and brokers list them for a moment after they were removed.
        """
        sizes = {name: count for name, count in self._admin.topics().items() if not _LEFT_OUT.search(name)}
        return self._admin.committed_ends([Place(name, n) for name, count in sizes.items() for n in range(count)])

    def write(self, topic: str, records: Iterable[tuple[bytes | None, bytes | None]]) -> None:
        """Write keys and values, and wait for the brokers. :raises RetriableError: they do not take them."""
        limits = {"message.max.bytes": int(_LARGEST), "queue.buffering.max.kbytes": 1_048_576}
        producer = Producer({**self._clients.small_producer(), **limits})
        failures: list[KafkaError] = []
        for key, value in records:
            producer.produce(topic, value, key, on_delivery=lambda error, _: failures.append(error) if error else None)
            producer.poll(0)
        if producer.flush(_PATIENCE_S) or failures:
            raise RetriableError(f"topic {topic} does not take records: {failures[0] if failures else 'no answer'}")

    def since(self, begins: Mapping[Place, int], topics: Iterable[str]) -> list[Arrived]:
        """All committed records of topics from some offsets on; partitions without one are read from their begin."""
        sizes = {name: count for name, count in self._admin.topics().items() if name in set(topics)}
        ends = self._settled([Place(name, n) for name, count in sizes.items() for n in range(count)])
        wanted = {place: begins.get(place, 0) for place, end in ends.items() if end > begins.get(place, 0)}
        consumer = Consumer(self._clients.consumer(f"conformance-{uuid.uuid4().hex}"))
        try:
            return list(_read(consumer, wanted, ends))
        finally:
            consumer.close()

    def _settled(self, places: list[Place]) -> dict[Place, int]:
        """Where readers of committed records end; a commit returns before all partitions know of it."""
        deadline = time.monotonic() + _MARKERS_S
        while True:
            bounds = self._admin.bounds(places) if places else {}
            if all(each.end == each.log_end for each in bounds.values()) or time.monotonic() >= deadline:
                return {place: each.end for place, each in bounds.items()}
            time.sleep(0.05)


def _read(consumer: Consumer, begins: Mapping[Place, int], ends: Mapping[Place, int]) -> Iterator[Arrived]:
    """Records below the ends. A partition may end with offsets that hold no record, and may grow meanwhile."""
    waiting = set(begins)
    consumer.assign([TopicPartition(place.topic, place.partition, begin) for place, begin in begins.items()])
    while waiting:
        message = consumer.poll(_PATIENCE_S)
        if message is None:
            raise RetriableError(f"topic {next(iter(waiting)).topic} cannot be read to its end")
        error, offset = message.error(), message.offset()
        place = Place(str(message.topic()), int(message.partition() or 0))
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is None and offset is not None and offset < ends[place]:
            yield Arrived(place.topic, message.key(), message.value())
        if error is not None or (offset is not None and offset + 1 >= ends[place]):
            waiting.discard(place)
