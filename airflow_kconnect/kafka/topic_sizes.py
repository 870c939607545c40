"""How many partitions and records each topic has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin import KafkaAdmin


@dataclass(frozen=True)
class TopicSize:
    """One topic.

    :param records: between begin and committed end of its partitions: counted in offsets, as everywhere in Kafka, so
        what was compacted and the markers of transactions are among them.
    """

    topic: str
    partitions: int
    records: int


def topic_sizes(admin: KafkaAdmin, is_wanted: Callable[[str], bool]) -> list[TopicSize]:
    """The topics by name; a few requests for all of them.

    :raises RetriableError: the broker is unavailable.
    """
    sizes = {name: size for name, size in sorted(admin.check_reachable().items()) if is_wanted(name)}
    bounds = admin.bounds([TopicPartition(name, p) for name, size in sizes.items() for p in range(size)])
    records = dict.fromkeys(sizes, 0)
    for each, bound in bounds.items():
        records[each.topic] += max(bound.end - bound.begin, 0)
    return [TopicSize(name, size, records[name]) for name, size in sizes.items()]
