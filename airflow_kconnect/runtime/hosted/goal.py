"""Offsets that a consumer group has to reach, and whether it has."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin

_LOOK_S = 10.0


class Goal:
    """The ends of topics when this was made, to be committed by a group.

    :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
    """

    def __init__(self, admin: GroupAdmin, clients: ClientConfigs, group: str, topics: Sequence[str]) -> None:
        self._admin, self._clients, self._group = admin, clients, group
        described = admin.described(topics)
        places = [TopicPartition(name, p) for name, topic in described.items() for p in range(topic.partitions)]
        bounds = admin.bounds(places)
        self._begins = {place: bound.begin for place, bound in bounds.items()}
        self.ends = {place: bound.end for place, bound in bounds.items()}
        self._nothing_from: dict[TopicPartition, int] = {}

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that the group has committed in each partition; where it has none, that of the first record."""
        committed = self._admin.committed(self._group, list(self.ends))
        return {
            place: max(committed[place].offset, begin) if place in committed else begin
            for place, begin in self._begins.items()
        }

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

    def _has_records(self, place: TopicPartition, start: int, end: int) -> bool:
        """Whether readers of committed records see any between two offsets. If that takes long: yes."""
        consumer = Consumer(self._clients.consumer(f"{self._group}-look"))
        try:
            consumer.assign([KafkaTopicPartition(place.topic, place.partition, start)])
            message = consumer.poll(_LOOK_S)
            if message is None:
                return True
            error = message.error()
            if error is None:
                return bool(message.offset() < end)
            return bool(error.code() != KafkaError._PARTITION_EOF)
        finally:
            consumer.close()
