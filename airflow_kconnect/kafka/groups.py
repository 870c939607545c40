"""Admin requests about consumer groups: their offsets, their members, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import error_of

_COORDINATOR_S = 60.0
"""As Kafka's own clients wait (`default.api.timeout.ms`): with the first request for a group, a new cluster creates a
topic of 50 partitions and reads each of them.
"""


class GroupAdmin(KafkaAdmin):
    """A `KafkaAdmin` that also alters what groups have committed, looks for their members, and deletes them.

    Waits longer for a group's coordinator than for other answers.
    """

    def __init__(self, config: Mapping[str, Any], timeout_s: float = 20.0) -> None:
        super().__init__(config, timeout_s)
        self._coordinator_timeout_s = max(timeout_s, _COORDINATOR_S)

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace a group's offsets, all in one request.

        :raises RetriableError: the group has members, or the broker is unavailable.
        """
        topic_partitions = [KafkaTopicPartition(tp.topic, tp.partition, offset) for tp, offset in offsets.items()]
        request = [ConsumerGroupTopicPartitions(group, topic_partitions)]

        # Once: a second request that the broker carries out later would take back what a run has committed meanwhile.
        def ask() -> None:
            futures = self._client.alter_consumer_group_offsets(request, request_timeout=self._timeout_s)
            for partition in futures[group].result().topic_partitions:
                if partition.error is not None:
                    raise KafkaException(partition.error)

        self._find_coordinator(group)
        self._settled(f"altering the offsets of group {group}", ask)

    def has_members(self, group: str, protocol: str) -> bool:
        """Whether a group of some protocol, such as `connect` for workers of a Connect cluster, has live members.

        :raises RetriableError: the broker is unavailable.
        """
        return self.member_count(group, protocol) > 0

    def member_count(self, group: str, protocol: str) -> int:
        """How many members a group of some protocol has, see `has_members`.

        :raises RetriableError: the broker is unavailable.
        """
        groups = self._settled(
            f"looking up group {group}", lambda: self._client.list_groups(group, timeout=self._timeout_s)
        )
        return sum(len(each.members) for each in groups if each.protocol_type == protocol)

    def delete_group(self, group: str) -> None:
        """Delete a group with all its offsets; it is not an error if it does not exist.

        :raises RetriableError: the group has members, or the broker is unavailable.
        """

        def ask() -> None:
            try:
                self._client.delete_consumer_groups([group], request_timeout=self._timeout_s)[group].result()
            except KafkaException as error:
                if error_of(error).code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

        self._find_coordinator(group)
        self._settled(f"deleting group {group}", ask)
