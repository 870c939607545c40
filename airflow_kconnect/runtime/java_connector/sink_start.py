"""Where a hosted sink begins: positions that are kept and judged as those of every other sink, see decision 0042."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.hosting.replays import keeps_own_offsets
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.kafka.sink_topics import offset_reset, sink_group
from airflow_kconnect.runtime.sink.plan import start_offset
from airflow_kconnect.runtime.sink.ranges import check_known, check_same_topics, lost_by_group
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.sink_positions import Position, SinkPositions
from airflow_kconnect.worker_config.keys import WorkerConfig

# Java's clients find such an offset by themselves, at each start: what a run does not read, the next one does.
_BY_DURATION = "by_duration:"


class SinkStart:
    """Commits positions before Java starts and after it has stopped: the group has no members then.

    Java's consumers begin where their group has committed something, and else at an end that may lie after records
    which no run has read. Its offsets expire, and say nothing of the topic to which they belong.

    :param name: of the connector. :param connector_class: full name. :param props: its keys, variables resolved.
    """

    def __init__(
        self,
        name: str,
        connector_class: str,
        props: Mapping[str, str],
        worker: WorkerConfig,
        clients: ClientConfigs,
        admin: GroupAdmin,
    ) -> None:
        self._name, self._class_name, self._props = name, connector_class, props
        self._worker, self._clients, self._admin = worker, clients, admin
        self.group = sink_group(props)
        self._positions = SinkPositions(clients, worker, admin, self.group)
        self.warnings: list[str] = []

    def find(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        """Where each partition begins; one for which Java's clients find that out is left out.

        :raises DataError: a position does not match the topic's current content.
        """
        topic_partitions = self._positions.look_up(topics)
        check_known(self._name, topics, topic_partitions)
        positions = self._positions.read()
        bounds = self._admin.bounds(topic_partitions)
        self.warnings += lost_by_group(self.group, positions)
        check_same_topics(self._name, self._positions.created_again(positions))
        found = ((tp, self._start(tp, positions.get(tp), bounds[tp])) for tp in topic_partitions)
        return {tp: start for tp, start in found if start is not None}

    def settle(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        """`find` these offsets and commit them, before Java starts.

        :raises RetriableError: the group has members. :raises FencedError: another run has begun.
        """
        with self._driver() as producer:
            self._positions.ensure_topic()
            starts = self.find(topics)
            if warning := self._positions.settle(producer, starts):
                self.warnings.append(warning)
        return starts

    def keep(self) -> None:
        """After Java has stopped: have the offset topic know what the sink has committed."""
        with self._driver() as producer:
            committed = self._positions.read()
            self._positions.commit(producer, {tp: position.offset for tp, position in committed.items()})

    def _start(self, topic_partition: TopicPartition, position: Position | None, bounds: Bounds) -> int | None:
        reset = offset_reset(self._props, self._worker.props)
        if position is None and reset is not None and reset.startswith(_BY_DURATION):
            return None
        committed = None if position is None else position.offset
        if committed is not None and committed < bounds.begin and keeps_own_offsets(self._class_name, self._props):
            # Some of these classes never commit in their group.
            return bounds.begin
        start, warning = start_offset(topic_partition, committed, bounds, reset)
        self.warnings += [warning] if warning else []
        return start

    @contextmanager
    def _driver(self) -> Iterator[TransactionalProducer]:
        """Held only for a moment: a second run, which is refused because the group has members, fences no one."""
        driver_id = transactional_ids.driver_id(self._worker.group_id, self._name)
        producer = TransactionalProducer(self._clients.producer(driver_id), f"driver of connector {self._name}")
        try:
            yield producer
        finally:
            producer.close()
