"""An interval of time that is moved again through a hosted sink: its offsets, its group, and whether all were given."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from airflow_kconnect.connect.errors import ConfigError, OccupiedError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.hosted.interval import filtering
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.sink_topics import chosen_topics, sink_group
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector.goal import Goal, bounds_of, first_record
from airflow_kconnect.runtime.sink.interval import ranges_left
from airflow_kconnect.runtime.sink.plan import OffsetRange
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

AGAIN = RunWarning(
    Kind.DOUBLED,
    "records were given to the sink again: whether its target then has them twice depends on the Java class and its"
    " configuration, such as upserts by key",
)
"""Warning of each replay that has moved something."""

_PATIENCE_S = 8.0
_POLL_S = 0.25


class SinkReplay:
    """What a hosted sink has to read for an interval, as `Progress` of its run.

    The replay has a consumer group of its own, which stays: another attempt resumes from it. Make one, `plan`, then
    `begin` before the tasks start.

    :param name: of the connector. :param props: its keys, variables resolved.
    """

    def __init__(
        self, replay: Replay, admin: GroupAdmin, clients: ClientConfigs, worker: WorkerConfig, props: Mapping[str, str]
    ) -> None:
        self._replay, self._admin, self._clients = replay, admin, clients
        self._worker, self._props = worker, props
        self.group = replay.name(sink_group(props))
        self.topics: list[str] = []
        self.patience_s = 0.0
        self.warnings: list[str] = []
        """About the interval."""
        self.already_replayed = False
        """Whether an earlier attempt has moved everything."""
        self._ranges: list[OffsetRange] = []
        self._ends: dict[TopicPartition, int] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._goal = Goal(clients, self.group, {}, {})

    def refuse_others(self) -> None:
        """:raises OccupiedError: another run replays the same interval, or one that was killed is still remembered."""
        deadline = time.monotonic() + _PATIENCE_S
        while (state := self._admin.group_state(self.group)).members:
            if time.monotonic() > deadline:
                raise OccupiedError(
                    f"consumer group {self.group} is {state.name} with {state.members} members: another run replays"
                    " this interval. Wait for it to end"
                )
            time.sleep(_POLL_S)

    def plan(self) -> None:
        """Look up the offsets of the interval, less what an earlier attempt has moved.

        :raises ConfigError: a topic does not exist. :raises RetriableError: the broker is unavailable.
        """
        self.topics = chosen_topics(self._props, self._admin.topics(), internal_topics_of(self._worker))
        bounds = bounds_of(self._admin, self.topics)
        self._committed = {tp: at.offset for tp, at in self._admin.committed(self.group, list(bounds)).items()}
        ranges, self.warnings = ranges_left(self._admin, self._replay, self._committed, bounds)
        self._ranges = [range_ for range_ in ranges if range_.size > 0]
        self._ends = {tp: bound.end for tp, bound in bounds.items()}
        begins = {range_.topic_partition: range_.start for range_ in self._ranges}
        ends = {range_.topic_partition: range_.end for range_ in self._ranges}
        self._goal = Goal(self._clients, self.group, begins, ends)
        self.already_replayed = bool(self._committed) and self.caught_up(look=True)

    def begin(self, jvm: HostGateway) -> None:
        """Have the group begin at the interval, and its consumers see nothing else.

        A partition without records of the interval begins at its end: what comes there is left out.

        :raises RetriableError: the group has members by now, or the broker is unavailable.
        """
        starts = {tp: end for tp, end in self._ends.items() if tp not in self._committed}
        starts |= {range_.topic_partition: range_.start for range_ in self._ranges}
        self._admin.alter_group_offsets(self.group, starts)
        filtering.allow(jvm, ((range_.topic_partition, range_.start, range_.end) for range_ in self._ranges))

    def check_given(self, given: Mapping[TopicPartition, int]) -> None:
        """Check, before the tasks stop, that they began where the replay does. A class that has its consumers seek to
        offsets of its own gets nothing of an interval before them, and its group may commit those offsets.

        :param given: the first offset of each partition that was given to a task.
        :raises ConfigError: records of the interval were skipped.
        """
        passed_over = [each for each in self._passed_over(given) if self._begins_before(each, given)]
        if passed_over:
            names = ", ".join(str(range_.topic_partition) for range_ in passed_over)
            text = (
                "the Java class has set its consumers to offsets of its own, and so skipped records of the"
                f" interval {self._replay} in {names}: it cannot replay intervals. The connector's own offsets are"
                " as they were"
            )
            raise ConfigError({"connector.class": [text]}, self._props.get("name"))

    def forget(self) -> None:
        """Remove the group with its offsets; it must have no members."""
        self._admin.delete_group(self.group)

    def positions(self) -> dict[TopicPartition, int]:
        """Where the group is in each partition that has records of the interval."""
        return self._goal.passed()

    def caught_up(self, *, look: bool = False) -> bool:
        """Whether the interval is committed; see `Progress`."""
        return self._goal.reached(look=look)

    def left(self) -> int:
        """How many offsets of the interval are left."""
        return self._goal.left()

    def lag(self) -> tuple[dict[str, int], int | None]:
        """A replay has no lag."""
        return {}, None

    def _passed_over(self, given: Mapping[TopicPartition, int]) -> Iterable[OffsetRange]:
        """Ranges of which the first offset was not given."""
        for range_ in self._ranges:
            if given.get(range_.topic_partition, range_.end) > range_.start:
                yield range_

    def _begins_before(self, range_: OffsetRange, given: Mapping[TopicPartition, int]) -> bool:
        """Whether a record of the range comes before the first one that was given."""
        tp = range_.topic_partition
        try:
            config = self._clients.consumer(f"{self.group}-look")
            return first_record(config, tp, range_.start, given.get(tp, range_.end)) is not None
        except TimeoutError:
            return False
