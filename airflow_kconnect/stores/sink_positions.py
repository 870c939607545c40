"""A sink's positions: in its consumer group and in the offset topic, which are written in one transaction.

The group is what other tools see and may alter: where it has an offset, that one wins. But Kafka expires a group's
offsets some time after they were committed, and drops those of a deleted topic at once. The offset topic still has them
then, with the id of the topic they belonged to. See decision 0010. A target that stores offsets with its data is right
about what it has: see decision 0046.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Topic
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.log import CompactedLog, OpenTransactionError
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.stores.offset_topic.records import TopicRead, sink_key
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.topics import ensure_offset_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

Offsets = Mapping[TopicPartition, int]

_MARK = re.compile(r"kconnect cluster=(\S+) topic_id=(\S+)")


def mark(cluster: str, topic_id: str) -> str:
    """The metadata committed with an offset: which topic it belongs to. Other tools that alter the offset do not write
    it.

    :param cluster: its id: tools that copy groups to other clusters copy this text, too.
    """
    return f"kconnect cluster={cluster} topic_id={topic_id}"


def marked_topic(metadata: str, cluster: str) -> str | None:
    """The topic id of a `mark`; None if it was written in another cluster, or is something else."""
    match = _MARK.fullmatch(metadata)
    return match[2] if match and match[1] == cluster else None


@dataclass(frozen=True)
class Position:
    """A sink's position in a topic-partition.

    :param offset: of the next record to read.
    :param topic_id: of the topic that the offset belongs to; None: not known.
    :param lost: the consumer group no longer has it.
    :param lost_by_target: the offset that was committed; the target has only what is before `offset`.
    """

    offset: int
    topic_id: str | None
    lost: bool = False
    lost_by_target: int | None = None


class SinkPositions:
    """Reads and writes the positions of one consumer group.

    :param kept: also in the offset topic; not for the positions of a replay.
    :param stored_in: where the target stores offsets with its data; None: it does not.
    """

    def __init__(
        self,
        clients: ClientConfigs,
        worker: WorkerConfig,
        admin: GroupAdmin,
        group: str,
        *,
        kept: bool = True,
        stored_in: str | None = None,
    ) -> None:
        self._clients, self._worker, self._admin, self._group = clients, worker, admin, group
        self._kept, self._stored_in = kept, stored_in
        self._offset_topic = worker.offset_topic
        self._cluster = ""
        self._topics: dict[str, Topic] = {}
        self._written: dict[str, TopicRead] = {}
        self._stored_elsewhere: dict[str, str | None] = {}

    def ensure_topic(self) -> None:
        """Make sure that the offset topic exists. :raises ConfigError: it is not compacted, or cannot be created."""
        if self._kept:
            ensure_offset_topic(self._admin, self._worker, self._offset_topic)

    def look_up(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Select the topics for all other calls; returns their partitions."""
        self._cluster = self._cluster or self._admin.cluster()[0]
        self._topics = self._admin.described(topics)
        return self._partitions()

    def _partitions(self) -> list[TopicPartition]:
        return [TopicPartition(name, p) for name, topic in self._topics.items() for p in range(topic.partitions)]

    def read(self, in_target: Offsets | None = None) -> dict[TopicPartition, Position]:
        """The position in each partition; partitions without one are left out.

        A partition that was added to a topic since the last run begins at 0.

        :param in_target: the offsets that the target stores with its data. Where they are further ahead, they win; and
            where they are lower although it had stored what was committed.
        :raises DataError: a record of the offset topic cannot be read.
        """
        in_target = in_target or {}
        positions = self._in_group()
        topic_partitions = self._partitions()
        missing = {tp for tp in topic_partitions if tp not in positions}
        # An offset that another tool has committed does not say to which topic the target's offset belongs.
        unsure = {
            p
            for p in topic_partitions
            if p in positions and positions[p].topic_id is None and in_target.get(p, -1) > positions[p].offset
        }
        wanted = self._kept and (missing or unsure or self._ahead(positions, in_target))
        records = self._records().read() if wanted else {}
        for topic_partition in missing | unsure:
            position = _of_record(topic_partition, records.get(topic_partition.topic))
            if position is not None:
                lost = topic_partition in missing
                positions[topic_partition] = (
                    position if lost else replace(positions[topic_partition], topic_id=position.topic_id)
                )
        return self._with_target(positions, in_target, records)

    def _with_target(
        self, positions: dict[TopicPartition, Position], in_target: Offsets, records: Mapping[str, TopicRead]
    ) -> dict[TopicPartition, Position]:
        """The target is ahead of the group if a run was killed between both commits; it is right where it has stored
        all that was committed. A table that was set since then has not.
        """
        stored = {topic for topic, record in records.items() if record.stored_in == self._stored_in}
        for topic_partition, position in self._ahead(positions, in_target).items():
            if topic_partition.topic in stored or not self._kept:
                at = in_target.get(topic_partition, 0)
                positions[topic_partition] = replace(position, offset=at, lost_by_target=position.offset)
        for topic_partition, offset in in_target.items():
            before = positions.get(topic_partition, Position(-1, None))
            positions[topic_partition] = replace(before, offset=max(before.offset, offset))
        return positions

    def _ahead(
        self, positions: Mapping[TopicPartition, Position], in_target: Offsets
    ) -> dict[TopicPartition, Position]:
        """Positions that a run of ours has committed, and that the target has not reached."""
        if self._stored_in is None:
            return {}
        return {
            tp: position
            for tp, position in positions.items()
            if position.topic_id is not None and in_target.get(tp, 0) < position.offset
        }

    def created_again(self, positions: Mapping[TopicPartition, Position]) -> list[str]:
        """Topics that were recreated since these positions were committed."""
        known = {(tp.topic, position.topic_id) for tp, position in positions.items() if position.topic_id}
        return sorted({topic for topic, topic_id in known if topic_id != self._topics[topic].id})

    def all(self, patience_s: float) -> dict[TopicPartition, int]:
        """What the group has, and what it has lost, for display.

        :param patience_s: how long to wait for open transactions; what they hold is not shown then.
        """
        records = self._records(patience_s).read()
        topics = self._admin.described(records)
        kept = {
            TopicPartition(topic, p): offset
            for topic, record in records.items()
            if topic in topics and topics[topic].id == record.topic_id
            for p, offset in enumerate(record.offsets)
            if offset is not None
        }
        with suppress(RetriableError):
            self._admin.committed(self._group, kept, patience_s)
        return kept | self._admin.committed_offsets(self._group)

    def send(self, producer: TransactionalProducer, positions: Offsets) -> None:
        """Add positions to the producer's open transaction.

        :param positions: complete for each of their topics: the topic's record is replaced.
        """
        if not positions:
            return
        for topic, record in self._as_records(positions).items():
            if self._kept and self._written.get(topic) != record:
                producer.produce_patiently(self._offset_topic, record.encode(), sink_key(self._group, topic))
                self._written[topic] = record
        offsets = [
            KafkaTopicPartition(tp.topic, tp.partition, offset, metadata=self._mark(tp.topic))
            for tp, offset in positions.items()
        ]
        producer.send_sink_offsets(offsets, self._group_metadata)

    def commit(self, producer: TransactionalProducer, positions: Offsets) -> None:
        """`send` in a transaction of its own."""
        if positions:
            producer.begin()
            self.send(producer, positions)
            producer.commit()

    def settle(self, producer: TransactionalProducer, positions: Offsets) -> str | None:
        """Commit the starting positions before anything is written: no run starts elsewhere, and no offset gets too
        old.

        The offsets of a group that once had members expire together, counted from when it lost the last one, regardless
        of later commits. Such a group is deleted and recreated; meanwhile the offset topic has its offsets.

        :param positions: of all partitions.
        :returns: a warning if that is not permitted.
        :raises RetriableError: the group has members. Brokers would take these offsets nevertheless, in place of those
            that the members have committed since.
        """
        state = self._admin.group_state(self._group)
        if state.members:
            raise RetriableError(
                f"consumer group {self._group} is {state.name} with {state.members} members: a Connect cluster, or"
                " another run of this sink, has just begun to use it"
            )
        if not self._kept or state.simple:
            self.commit(producer, positions)
            return None
        own = {tp.topic for tp in positions}
        positions = {**self._admin.committed_offsets(self._group), **positions}
        if not own.issuperset(tp.topic for tp in positions):
            self._stored_elsewhere = {t: r.stored_in for t, r in self._records().read().items() if t not in own}
        existing = set(self.look_up({tp.topic for tp in positions}))
        positions = {tp: offset for tp, offset in positions.items() if tp in existing}
        self.commit(producer, positions)
        try:
            self._admin.delete_group(self._group)
        except ConfigError as error:
            text = (
                f"the offsets of consumer group {self._group} expire together, some days after its last consumer has"
                f" left it: this principal may not delete the group to make it again ({error}). Runs will find them in"
                f" {self._offset_topic}, other tools will not"
            )
            return RunWarning(Kind.OFFSETS, text)
        self.commit(producer, positions)
        return None

    def alter(self, producer: TransactionalProducer, wanted: Offsets) -> None:
        """Replace some positions in one transaction; the other partitions keep theirs.

        A target need not have stored what another tool has committed.
        """
        positions = self.read()
        foreign = {tp.topic for tp, position in positions.items() if position.topic_id is None and tp not in wanted}
        self._stored_elsewhere = {
            topic: None if topic in foreign else record.stored_in for topic, record in self._records().read().items()
        }
        gone = self.created_again(positions)
        kept = {tp: position.offset for tp, position in positions.items() if tp.topic not in gone}
        self.commit(producer, {**kept, **wanted})

    def forget(self, producer: TransactionalProducer) -> None:
        """Remove all positions: first those in the offset topic, which are ignored while the group has some."""
        if keys := list(self._records().keys_and_partitions()):
            producer.begin()
            for key, partition in keys:
                producer.produce_patiently(self._offset_topic, None, key, partition)
            producer.commit()
        self._admin.delete_group(self._group)

    @cached_property
    def _group_metadata(self) -> Any:
        # It says the name of the group, for which no broker is asked, and no login is needed.
        consumer = Consumer({"group.id": self._group, "log_level": 2})
        try:
            return consumer.consumer_group_metadata()
        finally:
            consumer.close()

    def _in_group(self) -> dict[TopicPartition, Position]:
        committed = self._admin.committed(self._group, self._partitions())
        return {
            tp: Position(offset, marked_topic(metadata, self._cluster)) for tp, (offset, metadata) in committed.items()
        }

    def _mark(self, topic: str) -> str:
        topic_id = self._topics[topic].id
        return mark(self._cluster, topic_id) if topic_id else ""

    def _as_records(self, positions: Offsets) -> dict[str, TopicRead]:
        by_topic: dict[str, list[int | None]] = {}
        for topic_partition, offset in positions.items():
            topic = self._topics[topic_partition.topic]
            by_topic.setdefault(topic_partition.topic, [None] * topic.partitions)[topic_partition.partition] = offset
        return {
            name: TopicRead(self._topics[name].id, tuple(offsets), self._stored_elsewhere.get(name, self._stored_in))
            for name, offsets in by_topic.items()
        }

    def _records(self, patience_s: float | None = None) -> SinkRecords:
        """:param patience_s: leave out what is after a transaction that is open for longer; None: that is an error."""
        records = SinkRecords(self._group)
        if partitions := self._admin.partitions(self._offset_topic):
            patience = {} if patience_s is None else {"patience_s": patience_s}
            log = CompactedLog(self._admin, self._clients.consumer(self._group), self._offset_topic, **patience)
            try:
                log.read(range(partitions), records.add)
            except OpenTransactionError:
                if patience_s is None:
                    raise
        return records


def _of_record(topic_partition: TopicPartition, record: TopicRead | None) -> Position | None:
    if record is None:
        return None
    if topic_partition.partition >= len(record.offsets):
        return Position(0, record.topic_id)
    offset = record.offsets[topic_partition.partition]
    return None if offset is None else Position(offset, record.topic_id, lost=True)
