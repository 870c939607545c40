"""What `KafkaAdmin` answers: a topic, the bounds of a partition, a consumer group and what it has committed."""

from __future__ import annotations

from typing import NamedTuple


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
