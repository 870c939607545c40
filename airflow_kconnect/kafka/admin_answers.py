"""What `KafkaAdmin` answers: a topic, the bounds of a partition, a consumer group and what it has committed."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.errors import error_of


class GroupState(NamedTuple):
    """A consumer group.

    :param name: ``EMPTY``, ``STABLE``, ``DEAD`` ...
    :param simple: no consumer has ever joined it, so each of its offsets expires on its own.
    """

    name: str
    members: int
    simple: bool


class Bounds(NamedTuple):
    """A topic-partition.

    :param end: end offset for read_committed readers. :param log_end: end offset including open transactions.
    """

    begin: int
    end: int
    log_end: int


class Topic(NamedTuple):
    """A topic.

    :param id: changes when the topic is recreated; None with brokers older than 2.8, which have no topic ids.
    """

    partitions: int
    id: str | None


class Committed(NamedTuple):
    """What a consumer group has committed for a topic-partition: the offset and the metadata stored with it."""

    offset: int
    metadata: str


def state_in(answer: Future[Any]) -> GroupState:
    """The state of a group. :raises KafkaException: the broker did not give it."""
    try:
        state = answer.result()
    except KafkaException as error:
        if error_of(error).code() == KafkaError.GROUP_ID_NOT_FOUND:
            return GroupState("DEAD", 0, True)
        raise
    return GroupState(state.state.name, len(state.members), state.is_simple_consumer_group)


def committed_in(answer: Future[Any]) -> dict[TopicPartition, Committed]:
    """What a group has committed. :raises KafkaException: the broker did not give it."""
    topic_partitions = answer.result().topic_partitions
    if refused := next((tp.error for tp in topic_partitions if tp.error), None):
        raise KafkaException(refused)
    return {
        TopicPartition(tp.topic, tp.partition): Committed(tp.offset, tp.metadata or "")
        for tp in topic_partitions
        if tp.offset >= 0
    }
