"""Kafka as a stranger to the package sees it: this module uses confluent-kafka and nothing of the project."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

_PATIENCE_S = 120.0
_COORDINATOR_MOVES = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)


class KafkaSide:
    """Makes topics, writes the input of sinks, and counts the output of sources.

    :param bootstrap: all brokers of the cluster.
    """

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap})

    def create_topic(self, name: str, partitions: int) -> None:
        """Create a topic and return once it can be written."""
        self._admin.create_topics([NewTopic(name, num_partitions=partitions)], operation_timeout=30)[name].result(60)
        with self._retried() as attempts:
            for _ in attempts:
                found = self._admin.list_topics(timeout=30).topics.get(name)
                if found is not None and len(found.partitions) == partitions:
                    return

    def delete_topic(self, name: str) -> None:
        """Delete a topic and return once it is gone."""
        self._admin.delete_topics([name], operation_timeout=30)[name].result(60)
        with self._retried() as attempts:
            for _ in attempts:
                if name not in self._admin.list_topics(timeout=30).topics:
                    return

    def delete_group(self, group: str) -> bool:
        """Forget the offsets of a group, as their retention does; False if there were none."""
        with self._retried() as attempts:
            for _ in attempts:
                try:
                    self._admin.delete_consumer_groups([group])[group].result(15)
                except TimeoutError:
                    # The broker was restarted, and its coordinator is still reading: a new client asks for it again.
                    self._admin = AdminClient({"bootstrap.servers": self.bootstrap})
                except KafkaException as error:
                    if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
                        return False
                    if error.args[0].code() not in _COORDINATOR_MOVES:
                        raise
                else:
                    return True
        raise AssertionError(f"group {group} has no coordinator")

    def delete_records(self, topic: str, *, share: float = 1.0) -> None:
        """Delete the oldest of all records of each partition, as retention does.

        :param share: how many of them; at least one of each partition that has any.
        """
        known = self._admin.list_topics(topic, timeout=30).topics[topic]
        partitions = [TopicPartition(topic, number) for number in known.partitions]
        begins = self._ends(partitions, spec=OffsetSpec.earliest())
        ends = self._ends(partitions)
        before = [
            TopicPartition(topic, number, begins[number] + max(1, round((end - begins[number]) * share)))
            for number, end in ends.items()
            if end > begins[number]
        ]
        for future in self._admin.delete_records(before).values() if before else ():
            future.result(60)

    def produce(self, topic: str, values: Iterable[str], *, aborted: Iterable[str] = ()) -> None:
        """Write values, which are also the keys, and others in a transaction that is aborted between them."""
        self.produce_pairs(topic, map(_twice, values), aborted=map(_twice, aborted))

    def produce_pairs(
        self, topic: str, pairs: Iterable[tuple[bytes, bytes]], *, aborted: Iterable[tuple[bytes, bytes]] = ()
    ) -> None:
        """The same with keys and values."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 5})
        failures: list[KafkaError] = []
        for key, value in pairs:
            producer.produce(topic, value, key, on_delivery=lambda error, _: failures.append(error) if error else None)
            producer.poll(0)
        assert producer.flush(_PATIENCE_S) == 0 and not failures, f"input was not written: {failures[:1]}"
        if aborted := list(aborted):
            self._abort(topic, aborted)

    def _abort(self, topic: str, pairs: list[tuple[bytes, bytes]]) -> None:
        settings = {"bootstrap.servers": self.bootstrap, "transactional.id": uuid.uuid4().hex}
        producer = Producer(settings)
        producer.init_transactions(_PATIENCE_S)
        producer.begin_transaction()
        for key, value in pairs:
            producer.produce(topic, value, key)
        producer.flush(_PATIENCE_S)
        producer.abort_transaction(_PATIENCE_S)

    def records(self, topic: str) -> list[tuple[str | None, str]]:
        """`pairs` as texts."""
        return [(key.decode() if key else None, value.decode()) for key, value in self.pairs(topic)]

    def pairs(self, topic: str) -> list[tuple[bytes | None, bytes]]:
        """Key and value of all committed records of a topic; nothing if there is no such topic."""
        return [(message.key(), message.value() or b"") for message in self._messages(topic)]

    def placed(self, topic: str) -> list[tuple[int, int, bytes]]:
        """Partition, offset and value of the same, in the order of their offsets."""
        return [(each.partition() or 0, each.offset() or 0, each.value() or b"") for each in self._messages(topic)]

    def _messages(self, topic: str) -> list[Message]:
        """:raises AssertionError: a transaction is still open."""
        known = self._admin.list_topics(timeout=30).topics.get(topic)
        if known is None:
            return []
        ends = self._ends_without_open_transactions([TopicPartition(topic, p) for p in known.partitions])
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": uuid.uuid4().hex,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        try:
            consumer.assign([TopicPartition(topic, p, 0) for p in ends])
            return list(_until(consumer, ends))
        finally:
            consumer.close()

    def _ends_without_open_transactions(self, partitions: list[TopicPartition]) -> dict[int, int]:
        with self._retried() as attempts:
            for _ in attempts:
                stable = self._ends(partitions, IsolationLevel.READ_COMMITTED)
                if stable == (latest := self._ends(partitions, IsolationLevel.READ_UNCOMMITTED)):
                    return latest
        raise AssertionError(f"a transaction is open: last stable offsets {stable}, ends {latest}")

    def _ends(
        self,
        partitions: list[TopicPartition],
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        spec: OffsetSpec | None = None,
    ) -> dict[int, int]:
        asked = self._admin.list_offsets(
            {partition: spec or OffsetSpec.latest() for partition in partitions}, isolation_level=isolation
        )
        return {partition.partition: future.result(30).offset for partition, future in asked.items()}

    @contextmanager
    def _retried(self) -> Iterator[Iterator[None]]:
        def attempts() -> Iterator[None]:
            deadline = time.monotonic() + _PATIENCE_S
            while time.monotonic() < deadline:
                yield
                time.sleep(0.1)

        yield attempts()


def _until(consumer: Consumer, ends: dict[int, int]) -> Iterator[Message]:
    """The records below the ends; offsets of markers and of aborted records hold none."""
    waiting = set(ends)
    while waiting:
        message = consumer.poll(_PATIENCE_S)
        assert message is not None, f"no end of partitions {sorted(waiting)}"
        error = message.error()
        if error is None:
            yield message
        elif error.code() == KafkaError._PARTITION_EOF:
            waiting.discard(message.partition())
        elif not error.retriable():
            raise KafkaException(error)


def _twice(text: str) -> tuple[bytes, bytes]:
    return text.encode(), text.encode()
