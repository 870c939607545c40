"""Topics of the benchmarks: made, looked at, and deleted so that one pass does not fill the disk of the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.kafka.admin import KafkaAdmin
from benchmarks.settings import PARTITIONS


class Topics:
    """Topics of two partitions on one broker."""

    def __init__(self, bootstrap: str) -> None:
        self._config: dict[str, str | int | bool] = {"bootstrap.servers": bootstrap, "log_level": 2}
        self._client, self._admin = AdminClient(self._config), KafkaAdmin(self._config)

    def create(self, name: str) -> str:
        """A new topic."""
        self._client.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()
        return name

    def ends(self, topic: str) -> int:
        """How many records are in the log, those of open transactions too."""
        return sum(self._admin.end_offsets(topic, range(PARTITIONS), committed=False).values())

    def count(self, topic: str) -> int:
        """How many records are in the log, those of open transactions too, without the markers of transactions."""
        consumer = Consumer(
            {**self._config, "group.id": "count", "isolation.level": "read_uncommitted", "enable.partition.eof": True}
        )
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(PARTITIONS)])
        found, ended = 0, set[int]()
        while len(ended) < PARTITIONS:
            for message in consumer.consume(10_000, timeout=0.1):
                if message.error() is None:
                    found += 1
                else:
                    ended.add(message.partition())
        consumer.close()
        return found

    @contextmanager
    def temporary(self, name: str) -> Iterator[str]:
        """A topic for one pass."""
        yield self.create(name)
        self._client.delete_topics([name])[name].result()
