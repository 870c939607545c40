"""What is asked of Kafka about connectors that are waited for: by one alone, or for several at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.kafka.shared import Group, SharedKafka

log = logging.getLogger(__name__)

T = TypeVar("T")


class Look:
    """Asks when it is asked. Thread-safe; raises `RetriableError` if the broker is unavailable."""

    def __init__(self, kafka: SharedKafka) -> None:
        self._kafka = kafka

    def topics(self) -> dict[str, int]:
        """All topics, with their partitions."""
        with self._kafka.admin() as admin:
            return admin.topics()

    def partitions_of(self, topics: Collection[str]) -> dict[str, int]:
        """Those of the topics that exist, with their partitions."""
        with self._kafka.admin() as admin:
            return admin.partitions_of(topics)

    def committed(self, group: str) -> Mapping[TopicPartition, int]:
        """All offsets that a consumer group has committed."""
        with self._kafka.admin() as admin:
            return admin.committed_offsets(group)

    def bounds(self, topic_partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Bounds]:
        """Where partitions begin and end."""
        with self._kafka.admin() as admin:
            return admin.bounds(topic_partitions)

    def records(self, topic: str, group: Group, name: str) -> list[LogRecord]:
        """The records of a group of a compacted topic, see `TopicTable`."""
        with self._kafka.admin():
            return self._kafka.table(topic, group).records(name)


@dataclass(frozen=True)
class Wanted:
    """What a connector needs to know. :param topics: those that it names. :param group: of a sink; None: of a source.

    :param by_pattern: whether it reads topics by a pattern; says which of all topics they are.
    """

    group: str | None
    topics: tuple[str, ...] = ()
    by_pattern: Callable[[Mapping[str, int]], list[str]] | None = None


class LookTogether(Look):
    """Asks for several connectors when the first of them asks, and remembers the answers: for one look at each of them.

    Each request is made once for all of them, those about groups at the same time. What has no answer, for whatever
    reason, is asked again by the one that needs it, alone: so only that one waits for it, or gets its error.
    """

    def __init__(self, kafka: SharedKafka, wanted: Iterable[Wanted]) -> None:
        super().__init__(kafka)
        self._wanted = tuple(wanted)
        self._lock = threading.RLock()
        self._answers: dict[object, object] = {}

    def topics(self) -> dict[str, int]:
        return self._once("topics", super().topics)

    def partitions_of(self, topics: Collection[str]) -> dict[str, int]:
        known = self._known("named", self._named)
        return super().partitions_of(topics) if known is None else {t: known[t] for t in topics if t in known}

    def committed(self, group: str) -> Mapping[TopicPartition, int]:
        known = self._known("committed", self._committed_by_all) or {}
        return known[group] if group in known else super().committed(group)

    def bounds(self, topic_partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Bounds]:
        known = self._known("bounds", self._all_bounds) or {}
        if any(tp not in known for tp in topic_partitions):
            return super().bounds(topic_partitions)
        return {tp: known[tp] for tp in topic_partitions}

    def records(self, topic: str, group: Group, name: str) -> list[LogRecord]:
        with self._kafka.admin():
            table = self._kafka.table(topic, group)
            self._once(("read", topic), table.read)
            return table.known(name)

    def _named(self) -> dict[str, int]:
        return super().partitions_of(sorted({topic for wanted in self._wanted for topic in wanted.topics}))

    def _committed_by_all(self) -> dict[str, Mapping[TopicPartition, int]]:
        groups = {wanted.group: None for wanted in self._wanted if wanted.group is not None}
        with self._kafka.admin() as admin:
            answers = admin.committed_by(groups, require_stable=False)
        return {
            group: {tp: committed.offset for tp, committed in answer.items()}
            for group, answer in answers.items()
            if not isinstance(answer, ConnectError)
        }

    def _all_bounds(self) -> dict[TopicPartition, Bounds]:
        sizes = dict(self._known("named", self._named) or {})
        for wanted in self._wanted:
            if wanted.by_pattern is not None:
                existing = self.topics()
                sizes |= {topic: existing[topic] for topic in wanted.by_pattern(existing)}
        with self._kafka.admin() as admin:
            return admin.known_bounds([TopicPartition(topic, p) for topic, size in sizes.items() for p in range(size)])

    def _known(self, what: str, ask: Callable[[], T]) -> T | None:
        """An answer for all; None if there is none: each asks for itself then."""
        try:
            return self._once(what, ask)
        except ConnectError:
            return None

    def _once(self, what: object, ask: Callable[[], T]) -> T:
        with self._lock:
            if what not in self._answers:
                try:
                    self._answers[what] = ask()
                except ConnectError as error:
                    self._answers[what] = error
            answer = self._answers[what]
        if isinstance(answer, ConnectError):
            raise answer
        return answer  # type: ignore[return-value]
