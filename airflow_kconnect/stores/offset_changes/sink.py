"""Reading, altering and resetting the offsets of a sink connector between runs (KIP-875)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.kafka.sink_topics import chosen_topics, named_topics, offset_reset, sink_group
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.offset_changes.asking import AskClass
from airflow_kconnect.stores.offset_changes.requests import (
    READ_PATIENCE_S,
    offset_shown,
    partition_shown,
    sink_request,
)
from airflow_kconnect.stores.sink_plans import PlanState, SinkPlans
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

Ends = Mapping[TopicPartition, tuple[int, int]]
"""Begin and read_committed end of each topic-partition."""


class SinkOffsets:
    """The consumer group of one sink connector, its copy in the offset topic, and the offsets the sink stores with its
    data.

    :param config: of the connector.
    :param ask: the Java class of a hosted connector; None: it is not asked.
    :ivar dropped: the plan that was announced and will not be completed, for the user.
    :raises ConfigError: a client setting is not supported.
    """

    def __init__(self, config: ValidatedConfig, worker: WorkerConfig, ask: AskClass | None = None) -> None:
        self._config, self._worker, self._ask = config, worker, ask
        self._name, self._group = config.name, sink_group(config.props)
        self.dropped: str | None = None
        self._clients = ClientConfigs(worker.props, config.props, config.name)
        self._admin = GroupAdmin(self._clients.admin())
        self._positions = SinkPositions(self._clients, worker, self._admin, self._group)

    def read(self) -> list[dict[str, Any]]:
        """What the group has committed, or has since lost, as Connect's REST API shows it."""
        self._admin.check_reachable()
        committed = self._positions.all(READ_PATIENCE_S)
        return [
            {"partition": partition_shown(tp), "offset": offset_shown(offset)}
            for tp, offset in sorted(committed.items(), key=lambda item: (item[0].topic, item[0].partition))
        ]

    def alter(self, request: Any) -> bool:
        """Replace committed offsets.

        1 check the request, against the topics and by the connector, and that the group has no members
        2 take the driver's transactional id: a run still in progress can no longer commit anything
        3 call the connector, which alters what it stores with its data
        4 one transaction: the group's offsets and their copy in the offset topic
        5 a plan that was announced and does not begin there is dropped: a run that found it before this step would not
          complete it either
        6 what tables have from now on is right, even if they had more before

        A partition that is reset gets the offset at which a run without one would start: Kafka's client can delete
        groups, but not single offsets.

        :returns: the result of the class's `alter_offsets`.
        :raises ConfigError: the request is wrong. :raises RetriableError: the group has members.
        """
        wanted = sink_request(request, self._name)  # 1
        topics = self._admin.check_reachable()
        ends = self._ends([tp for tp in wanted if tp.partition in range(topics.get(tp.topic, 0))])
        self._check(wanted, ends)
        starts = {tp: self._first(ends[tp]) if offset is None else offset for tp, offset in wanted.items()}
        self._check_starts(starts)
        self._check_group()
        with self._driver() as producer:  # 2
            # What is stored with the data is no less than in Kafka, else the target would have lost rows. Classes of
            # Java get null for a reset, as in Connect.
            external = self._alter_elsewhere(wanted if self._config.hosted is not None else starts)  # 3
            self._positions.look_up({tp.topic for tp in wanted})
            self._positions.alter(producer, starts)  # 4
            if (plans := self._announced()) is not None and any(
                starts.get(tp, start) != start for tp, start in plans.state.plan.start.items()
            ):
                self._drop(plans, producer)  # 5
            self._accept(producer)  # 6
        return external

    def settle(self) -> None:
        """Fence a run in progress: the committed offsets then are final.

        :raises RetriableError: the group has members. :raises DataError: a run has not finished its plan.
        """
        self._admin.check_reachable()
        self._check_group()
        with self._driver():
            if (plans := self._announced()) is not None:
                raise DataError(
                    f"connector {self._name}: {_described(plans.state)} by a run that has not finished it: the tables"
                    " may have records that the offsets do not count. Resume the connector and run it again: it"
                    " finishes the plan. Or alter its offsets, which drops the plan"
                )

    def reset(self) -> bool:
        """Delete the offsets in the offset topic and the group, and have the connector delete those it stores with its
        data.

        :returns: the result of the class's `alter_offsets`.
        :raises ConfigError: the connector rejects it. :raises RetriableError: the group has members.
        """
        topics = self._admin.check_reachable()
        ends = self._ends(TopicPartition(topic, p) for topic in self._topics(topics) for p in range(topics[topic]))
        self._check_starts({tp: self._first(bounds) for tp, bounds in ends.items()})
        self._check_group()
        with self._driver() as producer:
            topic_partitions = dict.fromkeys(self._admin.committed_offsets(self._group), None)
            # A sink may be ahead of the group, even in partitions for which the group has no offset yet.
            topic_partitions |= dict.fromkeys(ends, None)
            external = self._alter_elsewhere(topic_partitions)
            self._positions.forget(producer)
            if (plans := self._announced()) is not None:
                self._drop(plans, producer)
            self._accept(producer)
        return external

    def _accept(self, producer: TransactionalProducer) -> None:
        if (plans := self._plans()) is not None:
            plans.accept(producer)

    def _announced(self) -> SinkPlans | None:
        """The plans, if there is one that was announced and not finished."""
        plans = self._plans()
        return plans if plans is not None and plans.state.announced else None

    def _plans(self) -> SinkPlans | None:
        if self._config.hosted is not None or not issubclass(self._plugin(), PlannedSinkConnector):
            return None
        topic = self._worker.offset_topic
        plans = SinkPlans(self._clients, self._admin, topic, self._group, self._name, self._positions)
        plans.read()
        return plans

    def _drop(self, plans: SinkPlans, producer: TransactionalProducer) -> None:
        self.dropped = (
            f"{_described(plans.state)} by a run that has not finished it; it is dropped. What the tables have of it"
            " stays there: records that are read again are written again"
        )
        plans.drop(producer, {})

    def _alter_elsewhere(self, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Have the class check the changes, and alter what it stores with its data; returns whether it does.

        :raises ConfigError: it refuses.
        """
        if self._config.hosted is None:
            return self._plugin().alter_offsets(self._config.props, offsets)
        shown = [(partition_shown(tp), None if at is None else offset_shown(at)) for tp, at in offsets.items()]
        return self._ask is not None and self._ask(shown)

    def _plugin(self) -> type[SinkConnector]:
        return cast("type[SinkConnector]", registry().connector(self._config.connector_class))

    def _topics(self, existing: Mapping[str, int]) -> list[str]:
        props = self._config.props
        if "topics.regex" in props:
            return chosen_topics(props, existing, internal_topics_of(self._worker))
        return [topic for topic in named_topics(props) if topic in existing]

    def _ends(self, topic_partitions: Iterable[TopicPartition]) -> Ends:
        partitions: dict[str, list[int]] = {}
        for topic_partition in topic_partitions:
            partitions.setdefault(topic_partition.topic, []).append(topic_partition.partition)
        ends: dict[TopicPartition, tuple[int, int]] = {}
        for topic, numbers in partitions.items():
            first = self._admin.begin_offsets(topic, numbers)
            last = self._admin.end_offsets(topic, numbers, committed=True)
            ends |= {TopicPartition(topic, p): (first[p], last[p]) for p in numbers}
        return ends

    def _check(self, wanted: Mapping[TopicPartition, int | None], ends: Ends) -> None:
        """:raises ConfigError: with all partitions and offsets from which a run could not start."""
        problems = [text for tp, offset in wanted.items() if (text := _problem(tp, offset, ends))]
        if problems:
            raise ConfigError({"offsets": problems}, self._name)

    def _check_starts(self, starts: Mapping[TopicPartition, int]) -> None:
        """:raises ConfigError: with all of the connector's objections. Java's are asked for by `alterOffsets` alone."""
        if self._config.hosted is not None:
            return
        committed = self._admin.committed_offsets(self._group)
        if problems := self._plugin().start_problems(self._config.props, starts, committed):
            raise ConfigError({"offsets": problems}, self._name)

    def _first(self, ends: tuple[int, int]) -> int:
        reset = offset_reset(self._config.props, self._worker.props)
        return ends[1] if reset == "latest" else ends[0]

    def _check_group(self) -> None:
        state = self._admin.group_state(self._group)
        if state.members:
            raise RetriableError(
                f"Failed to alter consumer group offsets for connector {self._name}: group {self._group} is"
                f" {state.name} with {state.members} members, so a Connect cluster or another consumer still uses it."
                " Stop it there first"
            )

    @contextmanager
    def _driver(self) -> Iterator[TransactionalProducer]:
        """The producer for altering offsets: runs in progress are fenced."""
        self._positions.ensure_topic()
        driver_id = transactional_ids.driver_id(self._worker.group_id, self._name)
        doing = f"altering the offsets of connector {self._name}"
        producer = TransactionalProducer(self._clients.producer(driver_id), doing)
        try:
            yield producer
        finally:
            producer.close()


def _described(state: PlanState) -> str:
    ranges = ", ".join(f"{range_.topic_partition} from {range_.start} to {range_.end}" for range_ in state.ranges[:3])
    more = f" and {len(state.ranges) - 3} more" if len(state.ranges) > 3 else ""
    return f"plan {state.number} ({ranges}{more}) was announced to {', '.join(state.announced)}"


def _problem(topic_partition: TopicPartition, offset: int | None, ends: Ends) -> str | None:
    if topic_partition not in ends:
        return f"topic-partition {topic_partition} does not exist"
    begin, end = ends[topic_partition]
    if offset is None or begin <= offset <= end:
        return None
    if offset > end:
        return f"{topic_partition}: offset {offset} is beyond the end {end}"
    return f"{topic_partition}: offset {offset} is before the begin {begin}; null starts at the begin"
