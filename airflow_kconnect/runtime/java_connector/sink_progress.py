"""How far a hosted sink has come: its consumer group against the ends that were seen at the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.hosted.known import iceberg
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.sink_topics import chosen_topics
from airflow_kconnect.runs.end import lag_of
from airflow_kconnect.runtime.java_connector.goal import Goal, bounds_of
from airflow_kconnect.runtime.java_connector.sink_start import SinkStart
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of


class Progress(Protocol):
    """How far a sink has come with what its run has to read."""

    topics: list[str]
    patience_s: float
    """For how long silence says nothing: the class may commit so long after its last record."""

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that its group has committed in each partition; where it has none, that of the first record."""

    def caught_up(self, *, look: bool = False) -> bool:
        """Whether everything is committed that was there at the start.

        :param look: read what is left: an end may come after markers of transactions, for which nothing is committed.
        """

    def left(self) -> int:
        """How many offsets are left to read."""

    def lag(self) -> tuple[dict[str, int], int | None]:
        """What is left to read by now, by topic, and the maximum of all partitions."""


class SinkProgress:
    """What a sink had to read when its run began, and what is left of it.

    :param connector_class: full name.
    :param props: of the connector, variables resolved.
    :param start: where it begins. :param dry_run: that is only looked up, and not committed.
    :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
    :raises DataError: a position does not match the topic's current content.
    """

    def __init__(
        self,
        admin: GroupAdmin,
        clients: ClientConfigs,
        worker: WorkerConfig,
        connector_class: str,
        props: Mapping[str, str],
        start: SinkStart,
        *,
        dry_run: bool,
    ) -> None:
        self._admin, self._clients = admin, clients
        self.topics = chosen_topics(props, admin.topics(), internal_topics_of(worker))
        starts = start.find(self.topics) if dry_run else start.settle(self.topics)
        bounds = bounds_of(admin, self.topics)
        begins = {tp: starts.get(tp, bound.begin) if dry_run else bound.begin for tp, bound in bounds.items()}
        ends = {tp: bound.end for tp, bound in bounds.items()}
        self._goal = Goal(clients, start.group, begins, ends, asked=not dry_run)
        self._control = iceberg.control(connector_class, props)
        self._control_goal: Goal | None = None
        self.patience_s = self._control.patience_s if self._control is not None else 0.0

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that the group has committed in each partition; where it has none, that of the first record."""
        return self._goal.positions()

    def caught_up(self, *, look: bool = False) -> bool:
        """Whether the sink has committed everything that was there at the start.

        :param look: read what is left: an end may come after markers of transactions, for which nothing is committed.
        """
        return self._goal.reached(look=look) and self._is_confirmed(look=look)

    def lag(self) -> tuple[dict[str, int], int | None]:
        """What is left to read by now, by topic, and the maximum of all partitions."""
        log_ends = {place: bound.log_end for place, bound in self._admin.bounds(list(self._goal.ends)).items()}
        return lag_of(self._goal.passed(), log_ends)

    def left(self) -> int:
        """How many offsets are left to read."""
        return self._goal.left()

    def _is_confirmed(self, *, look: bool) -> bool:
        """Whether what the group has committed is where readers see it: Iceberg's sink tells later."""
        if self._control is None:
            return True
        if self._control_goal is None:
            if self._control.topic not in self._admin.topics():
                return True
            # The group's offsets are committed: all events that belong to them are in the topic by now.
            self._control_goal = Goal.of_topics(self._admin, self._clients, self._control.group, [self._control.topic])
        return self._control_goal.reached(look=look)
