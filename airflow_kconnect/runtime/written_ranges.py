"""Where the records of a source's replay are in their topics: a sink of the same DAG run takes them from there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.record import TopicPartition

Ranges = Mapping[str, Sequence[int]]
"""``topic-partition`` -> its first offset and the one after its last. As in a marker, and in a split's report."""


def merged(ranges: Iterable[Ranges]) -> dict[str, list[int]]:
    """The smallest ranges that contain all of them."""
    found: dict[str, list[int]] = {}
    for each in ranges:
        for name, (start, end) in each.items():
            known = found.setdefault(name, [start, end])
            known[:] = [min(known[0], start), max(known[1], end)]
    return found


def entries(ranges: Ranges) -> list[dict[str, Any]]:
    """As in a run's report."""
    return [
        {"topic": topic, "partition": int(partition), "start": start, "end": end}
        for name, (start, end) in sorted(ranges.items())
        for topic, _, partition in [name.rpartition("-")]
    ]


def by_topic(written: Iterable[Mapping[str, Any]]) -> dict[str, dict[TopicPartition, tuple[int, int]]]:
    """The entries of several reports, which may name a partition more than once."""
    found = merged({f"{e['topic']}-{e['partition']}": (e["start"], e["end"])} for e in written)
    topics: dict[str, dict[TopicPartition, tuple[int, int]]] = {}
    for entry in entries(found):
        place = TopicPartition(entry["topic"], entry["partition"])
        topics.setdefault(place.topic, {})[place] = (entry["start"], entry["end"])
    return topics
