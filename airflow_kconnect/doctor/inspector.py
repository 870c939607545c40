"""What the doctor reads from a Kafka cluster: topics, permissions and settings. This creates and changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import ConfigResource, NewTopic, ResourceType

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.coordinators import descriptions
from airflow_kconnect.kafka.errors import error_of, translated
from airflow_kconnect.worker_config.keys import WorkerConfig

_DENIED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)


@dataclass(frozen=True)
class TopicFacts:
    """The cluster's description of a topic.

    :param denied: the principal may not even describe it; the other fields are empty then.
    :param replicas: of the partition that has the fewest. :param in_sync: likewise.
    :param rights: names of operations, such as READ.
    """

    exists: bool
    denied: bool = False
    partitions: int = 0
    replicas: int = 0
    in_sync: int = 0
    rights: frozenset[str] = frozenset()


class Inspector(KafkaAdmin):
    """A `KafkaAdmin` that only reads and changes nothing.

    :param worker: its Kafka is queried. :param props: of a connector, whose client overrides apply.
    """

    def __init__(self, worker: WorkerConfig, props: Mapping[str, str], timeout_s: float) -> None:
        self.clients = ClientConfigs(worker.props, props, props.get("name", "doctor"))
        super().__init__(self.clients.admin(), timeout_s=timeout_s)

    def brokers(self) -> list[int]:
        """Ids of the brokers."""
        cluster = self._settled(
            "looking up the cluster",
            lambda: self._client.describe_cluster(request_timeout=self._timeout_s).result(),
        )
        return [node.id for node in cluster.nodes]

    def topic(self, name: str) -> TopicFacts:
        """A topic and this principal's permissions on it."""
        request = TopicCollection([name])
        try:
            description = self._client.describe_topics(
                request, include_authorized_operations=True, request_timeout=self._timeout_s
            )[name].result()
        except KafkaException as error:
            code = error_of(error).code()
            if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return TopicFacts(exists=False)
            if code in _DENIED:
                return TopicFacts(exists=False, denied=True)
            raise translated(error, f"looking up topic {name}") from error
        return TopicFacts(
            exists=True,
            partitions=len(description.partitions),
            replicas=min(len(partition.replicas) for partition in description.partitions),
            in_sync=min(len(partition.isr) for partition in description.partitions),
            rights=_names(description.authorized_operations),
        )

    def group_rights(self, group: str) -> frozenset[str]:
        """This principal's permissions on a consumer group, which need not exist."""

        def ask() -> frozenset[str]:
            try:
                description = self._clients.answer(descriptions(with_rights=True), group, self._timeout_s).result()
            except KafkaException as error:
                if error_of(error).code() in _DENIED:
                    return frozenset()
                if error_of(error).code() == KafkaError.GROUP_ID_NOT_FOUND:
                    # Such a broker checks the DESCRIBE permission first, and reports no other.
                    return frozenset({"READ", "DESCRIBE"})
                raise
            return _names(description.authorized_operations)

        return self._settled(f"looking up group {group}", ask)

    def refusal(self, topic: str, partitions: int, replication: int) -> str | None:
        """Why the brokers would not create a topic; None if they would. The topic is not created."""
        new = NewTopic(topic, partitions, replication)
        try:
            self._client.create_topics([new], validate_only=True, request_timeout=self._timeout_s)[topic].result()
        except KafkaException as error:
            if error_of(error).code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return None
            return str(error_of(error).str())
        return None

    def settings(self, kind: ResourceType, name: str) -> dict[str, str] | None:
        """Settings of a broker or a topic; None if this principal may not see them."""
        resource = ConfigResource(kind, name)
        try:
            entries = self._client.describe_configs([resource], request_timeout=self._timeout_s)[resource].result()
        except KafkaException as error:
            if error_of(error).code() in _DENIED:
                return None
            raise translated(error, f"reading the settings of {kind.name.lower()} {name}") from error
        return {key: str(entry.value) for key, entry in entries.items()}

    def take_transactional_id(self, transactional_id: str) -> None:
        """Acquire an id, as the first step of a transaction.

        :raises ConnectError: it is not possible.
        """
        silent = logging.Logger("silent", logging.CRITICAL + 1)
        producer = Producer(self.clients.producer(transactional_id), logger=silent)
        try:
            producer.init_transactions(self._timeout_s)
        except KafkaException as error:
            raise translated(error, f"taking transactional id {transactional_id}") from error


def _names(operations: list[Any] | None) -> frozenset[str]:
    return frozenset(operation.name for operation in operations or ())
