"""Reading a compacted topic to its end, as Connect's ``KafkaBasedLog`` does under read_committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import translate, translated

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LogRecord:
    """A record of an internal topic; prints as ``topic-partition@offset``."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}"


class OpenTransactionError(RetriableError):
    """An open transaction blocked the end of a topic for longer than the reader is willing to wait."""


class CompactedLog:
    """Reads partitions of one topic from where it last stopped up to the *uncommitted* end.

    The end comes from the admin client under read_uncommitted, and it counts as reached only once the read_committed
    fetch position has passed it (a partition-EOF event): the reader waits for open transactions and never misses one.

    :param consumer_config: from `ClientConfigs.consumer`.
    :param patience_s: how long to wait for another producer's open transaction, see `ClientConfigs.patience_s`.
    """

    def __init__(
        self, admin: KafkaAdmin, consumer_config: Mapping[str, Any], topic: str, patience_s: float = 75.0
    ) -> None:
        self._admin = admin
        self._config = dict(consumer_config)
        self.topic = topic
        self._patience_s = patience_s
        self.positions: dict[int, int] = {}

    def read(
        self, partitions: Iterable[int], on_record: Callable[[LogRecord], None], *, committed: bool = False
    ) -> None:
        """Deliver what is new since the last call, in order per partition.

        :param committed: for monitoring: read only up to the first open transaction, without waiting for it.
        :raises OpenTransactionError: an open transaction blocks the end for too long. Everything before it was
            delivered.
        :raises RetriableError: the broker is unavailable.
        """
        numbers = list(partitions)
        ends = self._admin.end_offsets(self.topic, numbers, committed=committed)
        begins = self._admin.begin_offsets(self.topic, [p for p in numbers if p not in self.positions])
        starts = {p: self.positions.get(p, begins.get(p, 0)) for p in numbers}
        behind = {p for p in numbers if starts[p] < ends[p]}
        self.positions.update(starts)
        if behind:
            self._read_behind(behind, starts, ends, on_record)

    def _read_behind(
        self,
        behind: set[int],
        starts: Mapping[int, int],
        ends: Mapping[int, int],
        on_record: Callable[[LogRecord], None],
    ) -> None:
        consumer = Consumer(self._config)
        try:
            consumer.assign([KafkaTopicPartition(self.topic, p, starts[p]) for p in behind])
            deadline = time.monotonic() + self._patience_s
            while behind:
                before = {p: self.positions[p] for p in behind}
                messages = consumer.consume(10_000, timeout=0.05)
                for message in messages:
                    self._deliver(message, behind, ends, on_record)
                if any(self.positions[p] != at for p, at in before.items()):
                    deadline = time.monotonic() + self._patience_s
                if time.monotonic() > deadline:
                    raise OpenTransactionError(self._stuck(behind, ends))
        except KafkaException as error:
            raise translated(error, f"reading {self.topic}") from error
        finally:
            consumer.close()

    def _deliver(
        self, message: Message, behind: set[int], ends: Mapping[int, int], on_record: Callable[[LogRecord], None]
    ) -> None:
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is None:
            self.positions[partition] = offset + 1
            key, value = message.key(), message.value()
            on_record(LogRecord(self.topic, partition, offset, message.timestamp()[1], key, value))
        elif error.code() == KafkaError._PARTITION_EOF:
            # Control markers occupy offsets but are never delivered: only this event gives the true position.
            self.positions[partition] = offset
        else:
            raise translate(error, f"reading {self.topic}-{partition}")
        if self.positions[partition] >= ends[partition]:
            behind.discard(partition)

    def _stuck(self, behind: set[int], ends: Mapping[int, int]) -> str:
        stuck = ", ".join(f"{self.topic}-{p}@{self.positions[p]} (end {ends[p]})" for p in sorted(behind))
        return f"reading to the end is blocked at {stuck}: an open transaction of another producer; try again later"
