"""Admin requests for polling connectors: few requests, none of which creates anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, KafkaException
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import OffsetSpec

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import Bounds, Committed, GroupState, committed_in, state_in
from airflow_kconnect.kafka.coordinators import Ask, descriptions, offsets_of
from airflow_kconnect.kafka.errors import error_of, is_not_yet, translated

_T = TypeVar("_T")

# As many groups are asked for at a time: each is a request of its own, and one that waits too long times out.
_AT_ONCE = 200


class PollingAdmin(KafkaAdmin):
    """A long-lived `KafkaAdmin` that queries many topics, and many groups, at a time."""

    def partitions_of(self, topics: Iterable[str]) -> dict[str, int]:
        """Those of the topics that exist, with their partitions; a single request."""
        return {name: description.partitions for name, description in self.described(topics).items()}

    def known_bounds(self, topic_partitions: Collection[TopicPartition]) -> dict[TopicPartition, Bounds]:
        """As `bounds`, without those partitions for which the cluster is not ready to answer.

        :raises ConnectError: it answers for none of them.
        """
        # The log end first: see `bounds`.
        log_ends = self._known_offsets(topic_partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)
        ends = self._known_offsets(log_ends, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)
        begins = self._known_offsets(ends, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)
        return {tp: Bounds(begin, ends[tp], max(log_ends[tp], ends[tp])) for tp, begin in begins.items()}

    def _known_offsets(
        self, topic_partitions: Collection[TopicPartition], spec: OffsetSpec, level: IsolationLevel
    ) -> dict[TopicPartition, int]:
        asked = {_kafkas(topic_partition): spec for topic_partition in topic_partitions}
        if not asked:
            return {}
        found: dict[TopicPartition, int] = {}
        failed: KafkaException | None = None
        futures = self._client.list_offsets(asked, request_timeout=self._timeout_s, isolation_level=level)
        for at, future in futures.items():
            try:
                found[TopicPartition(at.topic, at.partition)] = future.result().offset
            except KafkaException as error:
                failed = error
        if failed is not None and not found:
            raise translated(error_of(failed), "reading the ends of topics") from failed
        return found

    def groups(self) -> list[str]:
        """The ids of all consumer groups that this principal may see, sorted."""
        listing = self._settled(
            "listing the consumer groups",
            lambda: self._client.list_consumer_groups(request_timeout=self._timeout_s).result(),
        )
        return sorted(group.group_id for group in listing.valid)

    def group_states(self, groups: Iterable[str]) -> dict[str, GroupState | ConnectError]:
        """The states of consumer groups, or why they are not known: that of one says nothing about the others."""

        states = self._of_each(sorted(set(groups)), descriptions(), state_in, self.group_state)
        self._groups_with_coordinator |= {group for group, state in states.items() if isinstance(state, GroupState)}
        return states

    def committed_by(
        self, groups: Mapping[str, Collection[TopicPartition] | None], *, require_stable: bool
    ) -> dict[str, dict[TopicPartition, Committed] | ConnectError]:
        """What consumer groups have committed, or why that is not known.

        The requests are made together: they take as long as the slowest.

        :param groups: the partitions that are wanted of each; None: all that it has.
        :param require_stable: wait for open transactions that hold offsets for them.
        """
        # See `_committed`: the broker must be known to coordinate a group before it is asked for its offsets.
        states = self.group_states(groups.keys() - self._groups_with_coordinator)
        failed = {group: state for group, state in states.items() if isinstance(state, ConnectError)}
        requests = {
            group: ConsumerGroupTopicPartitions(group, None if wanted is None else [*map(_kafkas, wanted)])
            for group, wanted in groups.items()
            if group not in failed and (wanted is None or wanted)
        }

        def again(group: str) -> dict[TopicPartition, Committed]:
            return self._committed(requests[group], require_stable=require_stable)

        answers = self._of_each(
            list(requests), offsets_of(requests, require_stable=require_stable), committed_in, again
        )
        return {group: failed[group] if group in failed else answers.get(group, {}) for group in groups}

    def _of_each(
        self,
        names: list[str],
        ask: Ask,
        read: Callable[[Future[Any]], _T],
        again: Callable[[str], _T],
    ) -> dict[str, _T | ConnectError]:
        """The answers about each name. :param again: asks for one where the cluster was not ready to answer."""
        answers: dict[str, _T | ConnectError] = {}
        for first in range(0, len(names), _AT_ONCE):
            for name, answer in self._clients.answers(ask, names[first : first + _AT_ONCE], self._timeout_s).items():
                try:
                    answers[name] = read(answer)
                except KafkaException as error:
                    if is_not_yet(error_of(error)):
                        answers[name] = _tried(again, name)
                    else:
                        answers[name] = translated(error, f"looking at consumer group {name}")
        return answers

    def forget_errors(self) -> None:
        """Process the errors that the client has recorded and keep only the last one; for long-lived clients."""
        self._client.poll(0)
        del self._errors[:-10]


def _tried(ask: Callable[[str], _T], name: str) -> _T | ConnectError:
    try:
        return ask(name)
    except ConnectError as error:
        return error


def _kafkas(topic_partition: TopicPartition) -> KafkaTopicPartition:
    return KafkaTopicPartition(topic_partition.topic, topic_partition.partition)
