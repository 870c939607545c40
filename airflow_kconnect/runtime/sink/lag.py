"""A sink's lag at the end of its run. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.record import TopicPartition


def lag_of(
    reached: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> tuple[dict[str, int], int | None]:
    """The number of offsets between the sink's positions and the ends: by topic, and the maximum over all partitions.

    :param reached: next offset of each partition; if empty, the second number is None.
    :param ends: where they end; a missing one counts as reached.
    """
    behind = {tp: max(ends.get(tp, offset) - offset, 0) for tp, offset in reached.items()}
    by_topic: dict[str, int] = {}
    for topic_partition, offsets in sorted(behind.items()):
        by_topic[topic_partition.topic] = by_topic.get(topic_partition.topic, 0) + offsets
    return by_topic, max(behind.values(), default=None)
