"""What a sink run has to read: of each topic-partition from the group's offset to the end that readers see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from airflow_kconnect.connect.connector import NativeSinkConnector, SinkConnector
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connect.sink_topics import chosen_topics, named_topics, sink_group
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import translated
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink_plan import Range, interval_ranges, start_offset


def group_of(settings: RunSettings, *, dead_letters: bool) -> str:
    """The consumer group that keeps a run's offsets: replays, of intervals and of dead letters, have their own."""
    own = sink_group(settings.config.props)
    own = settings.replay.name(own) if settings.replay else own
    return f"{own}-dead-letters" if dead_letters else own


class SinkRanges:
    """Asks Kafka, and the target if it keeps offsets too.

    :param group: see `group_of`.
    :param consumer_config: of a consumer in this group.
    :param dead_letters: the run reads the connector's dead letters instead of its topics.
    """

    def __init__(
        self,
        settings: RunSettings,
        connector: SinkConnector,
        admin: KafkaAdmin,
        group: str,
        consumer_config: Mapping[str, Any],
        *,
        dead_letters: bool,
    ) -> None:
        self._settings, self._connector, self._admin = settings, connector, admin
        self._group, self._consumer_config, self._dead_letters = group, dict(consumer_config), dead_letters
        self.warnings: list[str] = []
        self.own_topics: list[str] = []
        """Of a run over dead letters: the topics from which they may be."""

    def check_group(self) -> None:
        """:raises RetriableError: somebody else consumes in the group."""
        state, members = self._admin.group_state(self._group)
        if members:
            raise RetriableError(
                f"consumer group {self._group} is {state} with {members} members: a Connect cluster still runs this"
                " sink. Stop the connector there first"
            )

    def find(self) -> list[Range]:
        """The ranges, also empty ones; `warnings` then has what is odd about them."""
        existing = self._admin.topics()
        topics = self._topics(existing)
        stored = self._stored([TopicPartition(topic, p) for topic in topics for p in range(existing[topic])])
        return [found for topic in topics for found in self._of_topic(topic, existing[topic], stored)]

    def _of_topic(self, topic: str, partitions: int, stored: Mapping[TopicPartition, int]) -> list[Range]:
        committed = self._committed(topic, partitions)
        for p in range(partitions):
            in_target = stored.get(TopicPartition(topic, p), -1)
            if in_target > committed.get(p, -1):
                committed[p] = in_target
        begins = self._admin.begin_offsets(topic, range(partitions))
        ends = self._admin.end_offsets(topic, range(partitions), committed=True)
        if self._settings.replay is not None:
            return self._replayed(self._settings.replay, topic, committed, begins, ends)
        reset = self._settings.config.props.get("consumer.override.auto.offset.reset")
        ranges = []
        for p in range(partitions):
            place = TopicPartition(topic, p)
            start, warning = start_offset(place, committed.get(p), begins[p], ends[p], reset)
            self.warnings += [warning] if warning else []
            ranges.append(Range(place, start, max(start, ends[p])))
        return ranges

    def _replayed(
        self,
        replay: Replay,
        topic: str,
        committed: Mapping[int, int],
        begins: Mapping[int, int],
        ends: Mapping[int, int],
    ) -> list[Range]:
        """What belongs to the interval, less what an earlier attempt has written; see `interval_ranges`."""
        first, after = (self._admin.offsets_at(topic, ends, ms) for ms in (replay.start_ms, replay.end_ms))
        ranges, warnings = interval_ranges(topic, (first, after), begins, ends)
        self.warnings += warnings
        return [
            Range(found.place, min(max(found.start, committed.get(found.place.partition, -1)), found.end), found.end)
            for found in ranges
        ]

    def _stored(self, partitions: list[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target keeps beside its data."""
        return self._connector.stored_offsets(partitions) if isinstance(self._connector, NativeSinkConnector) else {}

    def _topics(self, existing: Mapping[str, int]) -> list[str]:
        if not self._dead_letters:
            return self._chosen(existing)
        topic = self._settings.errors.topic
        if topic is None:
            key = "errors.deadletterqueue.topic.name"
            raise ConfigError({key: ["is not set: there are no dead letters to replay"]}, self._settings.name)
        # Named topics need not exist any more.
        self.own_topics = named_topics(self._settings.config.props) or self._chosen(existing)
        return [topic]

    def _chosen(self, existing: Mapping[str, int]) -> list[str]:
        worker = self._settings.worker
        internal = frozenset(str(worker.get(f"{store}.storage.topic")) for store in ("offset", "config", "status"))
        return chosen_topics(self._settings.config.props, existing, internal)

    def _committed(self, topic: str, partitions: int) -> dict[int, int]:
        consumer = Consumer(self._consumer_config)
        try:
            found = consumer.committed([KafkaPartition(topic, p) for p in range(partitions)], timeout=30.0)
        except KafkaException as error:
            raise translated(error, f"reading the offsets of group {self._group}") from error
        finally:
            consumer.close()
        return {tp.partition: tp.offset for tp in found if tp.offset >= 0}
