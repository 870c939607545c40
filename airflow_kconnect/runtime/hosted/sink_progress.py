"""How far a hosted sink has come: its consumer group against the ends that were seen at the start."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.sink_topics import chosen_topics, sink_group
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.runtime.sink.lag import lag_of

_LOOK_S = 10.0


class SinkProgress:
    """What a sink had to read when its run began, and what is left of it.

    :param props: of the connector, variables resolved.
    :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
    """

    def __init__(
        self, admin: GroupAdmin, clients: ClientConfigs, worker: WorkerConfig, props: Mapping[str, str]
    ) -> None:
        self._admin, self._clients = admin, clients
        self.group = sink_group(props)
        self.topics = chosen_topics(props, admin.topics(), worker.internal_topics)
        described = admin.described(self.topics)
        places = [TopicPartition(name, p) for name, topic in described.items() for p in range(topic.partitions)]
        bounds = admin.bounds(places)
        self._begins = {place: bound.begin for place, bound in bounds.items()}
        self.ends = {place: bound.end for place, bound in bounds.items()}
        self._latest = props.get("consumer.override.auto.offset.reset") == "latest"
        self._nothing_from: dict[TopicPartition, int] = {}

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that the group has committed in each partition; where it has none, that of the first record."""
        committed = self._admin.committed(self.group, list(self.ends))
        return {
            place: max(committed[place].offset, begin) if place in committed else begin
            for place, begin in self._begins.items()
        }

    def caught_up(self, *, look: bool = False) -> bool:
        """Whether the sink has committed everything that was there at the start.

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

    def lag(self) -> tuple[dict[str, int], int | None]:
        """What is left to read by now, by topic, and the maximum of all partitions."""
        positions = self.positions()
        log_ends = {place: bound.log_end for place, bound in self._admin.bounds(list(self.ends)).items()}
        for place, start in self._nothing_from.items():
            if positions.get(place) == start:
                positions[place] = max(start, self.ends[place])
        return lag_of(positions, log_ends)

    def _has_records(self, place: TopicPartition, start: int, end: int) -> bool:
        """Whether readers of committed records see any between two offsets. If that takes long: yes."""
        consumer = Consumer(self._clients.consumer(f"{self.group}-look"))
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
