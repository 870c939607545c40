"""What a sink run has to read: for each topic-partition, from the sink's position to the read_committed end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.sink_topics import (
    chosen_topics,
    dead_letter_group,
    named_topics,
    offset_reset,
    sink_group,
)
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink.interval import ranges_left
from airflow_kconnect.runtime.sink.kinds import SinkKind
from airflow_kconnect.runtime.sink.plan import CURE, OffsetRange, start_offset
from airflow_kconnect.stores.sink_positions import Position, SinkPositions
from airflow_kconnect.worker_config.keys import internal_topics_of

# A warning names at most this many topic-partitions.
_SHOWN = 20


def group_of(settings: RunSettings, *, dead_letters: bool) -> str:
    """The consumer group for a run's offsets: replays, of intervals and of dead letters, have their own."""
    own = sink_group(settings.config.props)
    if dead_letters:
        return dead_letter_group(own)
    return settings.replay.name(own) if settings.replay else own


def lost_by_group(group: str, positions: Mapping[TopicPartition, Position]) -> list[str]:
    """Warnings about offsets that a consumer group has lost."""
    topics = sorted({tp.topic for tp, position in positions.items() if position.lost})
    if not topics:
        return []
    text = (
        f"consumer group {group} has lost its offsets in {', '.join(topics)}: they have expired, or were deleted."
        " Resuming from what the offset topic knows. To read from the beginning, reset the connector's offsets"
        " (`kconnect offsets reset`)"
    )
    return [RunWarning(Kind.OFFSETS, text)]


def check_known(name: str, topics: Iterable[str], topic_partitions: Iterable[TopicPartition]) -> None:
    """:raises RetriableError: partitions of a topic are missing.

    :param name: of the connector.
    """
    if unknown := set(topics).difference(tp.topic for tp in topic_partitions):
        text = "was there a moment ago, and a broker does not know it: it has just been created, or deleted"
        raise RetriableError(f"connector {name}: topic {min(unknown)} {text}")


def check_same_topics(name: str, created_again: list[str]) -> None:
    """:raises DataError: topics were created again since the connector's positions were committed.

    :param name: of the connector. :param created_again: see `SinkPositions.created_again`.
    """
    if created_again:
        raise DataError(f"connector {name}: created again since it was read: {', '.join(created_again)}. {CURE}")


class SinkRanges:
    """Queries Kafka, and the target if it stores offsets too.

    :param group: see `group_of`.
    :param dead_letters: the run reads the connector's dead letters instead of its topics.
    """

    def __init__(
        self,
        settings: RunSettings,
        kind: SinkKind,
        admin: KafkaAdmin,
        positions: SinkPositions,
        group: str,
        *,
        dead_letters: bool,
    ) -> None:
        self._settings, self._kind, self._admin = settings, kind, admin
        self._positions, self._group, self._dead_letters = positions, group, dead_letters
        self.warnings: list[str] = []
        self.own_topics: list[str] = []
        """For a run over dead letters: the topics from which they may come."""

    def check_group(self) -> None:
        """:raises RetriableError: another consumer is active in the group."""
        state = self._admin.group_state(self._group)
        if state.members:
            raise RetriableError(
                f"consumer group {self._group} is {state.name} with {state.members} members: a Connect cluster still"
                " runs this sink. Stop the connector there first"
            )

    def find(self) -> list[OffsetRange]:
        """The ranges, including empty ones; `warnings` then has any irregularities.

        :raises DataError: the sink's position does not match the topic's current content.
        """
        topics = self._topics(self._admin.topics())
        topic_partitions = self._positions.look_up(topics)
        if not self._dead_letters:
            check_known(self._settings.name, topics, topic_partitions)
        positions = self._positions.read(self._in_target(topic_partitions))
        bounds = self._admin.bounds(topic_partitions)
        self.warnings += [*lost_by_group(self._group, positions), *self._lost_by_target(positions)]
        if self._dead_letters and not positions:
            self.warnings += self._replayed_before(topic_partitions)
        again = self._positions.created_again(positions)
        if self._settings.replay is not None:
            positions = {tp: position for tp, position in positions.items() if tp.topic not in again}
            return self._replayed(self._settings.replay, positions, bounds)
        check_same_topics(self._settings.name, again)
        return [self._range(tp, positions.get(tp), bounds[tp]) for tp in topic_partitions]

    def _range(self, topic_partition: TopicPartition, position: Position | None, bounds: Bounds) -> OffsetRange:
        reset = offset_reset(self._settings.config.props, self._settings.worker.props)
        if self._dead_letters and reset != "earliest":
            reset = None  # they are there to be replayed, all of them
        lost = position is not None and position.lost_by_target is not None
        committed = None if position is None else position.offset
        try:
            start, warning = start_offset(topic_partition, committed, bounds, reset, lost_by_target=lost)
        except DataError as error:
            if position is None or not lost:
                raise
            raise DataError(f"{self._lost_by_target({topic_partition: position})[0]}. {error}") from error
        self.warnings += [warning] if warning else []
        return OffsetRange(topic_partition, start, max(start, bounds.end))

    def _replayed(
        self, replay: Replay, positions: Mapping[TopicPartition, Position], bounds: Mapping[TopicPartition, Bounds]
    ) -> list[OffsetRange]:
        """The offsets of the interval, less what an earlier attempt has written."""
        written = {tp: position.offset for tp, position in positions.items()}
        ranges, warnings = ranges_left(self._admin, replay, written, bounds)
        self.warnings += warnings
        return ranges

    def _in_target(self, topic_partitions: list[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target stores with its data."""
        return (
            self._kind.stored_offsets(topic_partitions)
            if self._settings.dry_run
            else self._kind.take_over(topic_partitions)
        )

    def _lost_by_target(self, positions: Mapping[TopicPartition, Position]) -> list[str]:
        """A warning about offsets that the target has lost, and the rows with them."""
        lost = {str(tp): [p.offset, p.lost_by_target] for tp, p in positions.items() if p.lost_by_target is not None}
        if not lost:
            return []
        shown = ", ".join(f"{name} {at} of {committed}" for name, (at, committed) in sorted(lost.items())[:_SHOWN])
        text = (
            f"the target has lost what was written to it, according to {self._kind.offsets_stored_in}, by a failover or"
            f" because it was restored or emptied: {shown}{', ...' if len(lost) > _SHOWN else ''}. Writing again from"
            " there; to resume at other offsets, alter them (`kconnect offsets alter`)"
        )
        return [RunWarning(Kind.TARGET, text)]

    def _replayed_before(self, topic_partitions: list[TopicPartition]) -> list[str]:
        """Warnings about replays under the name that their group had, which may be that of another sink."""
        old = f"{sink_group(self._settings.config.props)}-dead-letters"
        committed = self._admin.committed_offsets(old)
        known = {str(tp): committed[tp] for tp in topic_partitions if tp in committed}
        if not known:
            return []
        text = (
            f"replays of dead letters have a consumer group of a new name, {self._group}, and begin at the beginning."
            f" What an older version replayed, as group {old}, is replayed again: {json.dumps(known)}"
        )
        return [RunWarning(Kind.DOUBLED, text)]

    def _topics(self, existing: Mapping[str, int]) -> list[str]:
        if not self._dead_letters:
            return self._chosen(existing)
        topic = self._settings.errors.topic
        if topic is None:
            key = "errors.deadletterqueue.topic.name"
            raise ConfigError({key: ["is not set: there are no dead letters to replay"]}, self._settings.name)
        # The topics named need not exist any more.
        self.own_topics = named_topics(self._settings.config.props) or self._chosen(existing)
        return [topic]

    def _chosen(self, existing: Mapping[str, int]) -> list[str]:
        return chosen_topics(self._settings.config.props, existing, internal_topics_of(self._settings.worker))
