"""Offsets that a consumer group has to reach, and whether it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.clients import ClientConfigs, Config
from airflow_kconnect.kafka.errors import translated
from airflow_kconnect.kafka.groups import GroupAdmin

_LOOK_S = 10.0


class Goal:
    """Offsets that a group has to commit.

    :param begins: where it begins in each partition if it has committed nothing there.
    :param ends: those offsets.
    :param asked: whether the group is asked; a dry run begins at other offsets than those that it has, and moves none.
    """

    def __init__(
        self,
        clients: ClientConfigs,
        group: str,
        begins: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
        *,
        asked: bool = True,
    ) -> None:
        self._clients, self._group, self._asked = clients, group, asked
        self._begins, self.ends = dict(begins), dict(ends)
        self._nothing_from: dict[TopicPartition, int] = {}
        self._consumer: Consumer | None = None

    @classmethod
    def of_topics(cls, admin: GroupAdmin, clients: ClientConfigs, group: str, topics: Sequence[str]) -> Goal:
        """The ends of topics as they are now.

        :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
        """
        bounds = bounds_of(admin, topics)
        begins = {place: bound.begin for place, bound in bounds.items()}
        return cls(clients, group, begins, {place: bound.end for place, bound in bounds.items()})

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that the group has committed in each partition; where it has none, that of the first record."""
        committed = self._committed()
        return {place: max(committed.get(place, begin), begin) for place, begin in self._begins.items()}

    def reached(self, *, look: bool = False) -> bool:
        """Whether the group has committed everything that was there.

        :param look: read what is left: an end may come after markers of transactions, for which nothing is committed.
        """
        positions = self.positions()
        for place, end in self.ends.items():
            start = positions[place]
            if start >= end or self._nothing_from.get(place) == start:
                continue
            if not look or self._has_records(place, start, end):
                return False
            self._nothing_from[place] = start
        return True

    def passed(self) -> dict[TopicPartition, int]:
        """The positions, where only markers are left those after them."""
        positions = self.positions()
        for place, start in self._nothing_from.items():
            if positions.get(place) == start:
                positions[place] = max(start, self.ends[place])
        return positions

    def left(self) -> int:
        """How many offsets are left to reach the ends."""
        return sum(max(self.ends[place] - offset, 0) for place, offset in self.passed().items() if place in self.ends)

    def _committed(self) -> dict[TopicPartition, int]:
        """What the group has committed; :raises RetriableError: the broker is unavailable.

        Asked by a consumer, again and again: librdkafka's admin client ends the process if a broker restarts while it
        waits for offsets of a group.
        """
        if not self.ends or not self._asked:
            return {}
        if self._consumer is None:
            self._consumer = Consumer(self._clients.consumer(self._group))
        partitions = [KafkaTopicPartition(place.topic, place.partition) for place in self.ends]
        try:
            answer = self._consumer.committed(partitions, timeout=_LOOK_S)
            if refused := next((each.error for each in answer if each.error), None):
                raise KafkaException(refused)
        except KafkaException as error:
            raise translated(error, f"reading the offsets of group {self._group}") from error
        return {TopicPartition(each.topic, each.partition): each.offset for each in answer if each.offset >= 0}

    def _has_records(self, place: TopicPartition, start: int, end: int) -> bool:
        """Whether readers of committed records see any between two offsets. If that takes long: yes."""
        try:
            return first_record(self._clients.consumer(f"{self._group}-look"), place, start, end) is not None
        except TimeoutError:
            return True


def bounds_of(admin: GroupAdmin, topics: Sequence[str]) -> dict[TopicPartition, Bounds]:
    """Begin and end of all partitions of topics.

    :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
    """
    described = admin.described(topics)
    return admin.bounds([TopicPartition(name, p) for name, topic in described.items() for p in range(topic.partitions)])


def begin_at_first(admin: GroupAdmin, group: str, topic: str) -> None:
    """Have a group begin at the first record of the partitions where it has committed nothing, whatever its consumers
    are configured for.

    :param topic: may be missing.
    :raises RetriableError: the group has members, or the broker is unavailable.
    """
    if topic not in admin.topics():
        return
    committed = admin.committed_offsets(group)
    begins = {place: bound.begin for place, bound in bounds_of(admin, [topic]).items() if place not in committed}
    if begins:
        admin.alter_group_offsets(group, begins)


def first_record(config: Config, place: TopicPartition, start: int, end: int) -> int | None:
    """The offset of the first record that readers of committed records see between two offsets; None: there is none.

    :param config: of a consumer. :raises TimeoutError: no answer in time, or an error.
    """
    consumer = Consumer(config)
    try:
        consumer.assign([KafkaTopicPartition(place.topic, place.partition, start)])
        message = consumer.poll(_LOOK_S)
        error = None if message is None else message.error()
        if message is None or (error is not None and error.code() != KafkaError._PARTITION_EOF):
            raise TimeoutError
        offset = message.offset()
        return None if error is not None or offset is None or offset >= end else int(offset)
    finally:
        consumer.close()
