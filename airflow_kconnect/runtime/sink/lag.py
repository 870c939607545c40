"""How far a sink is behind when its run ends. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.record import TopicPartition


def lag_of(
    reached: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> tuple[dict[str, int], int | None]:
    """Offsets between where the sink is and the ends: by topic, and of the partition that has most of them.

    :param reached: next offset of each partition; if there is none, neither is the second number.
    :param ends: where they end; a missing one counts as reached.
    """
    behind = {place: max(ends.get(place, offset) - offset, 0) for place, offset in reached.items()}
    by_topic: dict[str, int] = {}
    for place, offsets in sorted(behind.items()):
        by_topic[place.topic] = by_topic.get(place.topic, 0) + offsets
    return by_topic, max(behind.values(), default=None)
