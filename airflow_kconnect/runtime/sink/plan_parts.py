"""Parts of a plan: its ranges, and what of it comes before the record that ends it."""

from __future__ import annotations

from dataclasses import replace

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.sink.run import contiguous
from airflow_kconnect.runtime.sink.writer import SinkReport


def ranges_of(splits: list[SinkSplit]) -> list[SinkSplit]:
    """Of each topic-partition one."""
    ranges: dict[TopicPartition, SinkSplit] = {}
    for split in splits:
        known = ranges.get(split.topic_partition, split)
        ranges[split.topic_partition] = replace(
            split, start=min(known.start, split.start), end=max(known.end, split.end)
        )
    return [ranges[tp] for tp in sorted(ranges)]


def ended_early(report: SinkReport) -> bool:
    """Whether something of the split does not count."""
    return report.stopped or report.result is None


def before(splits: list[SinkSplit], reports: list[SinkReport]) -> list[SinkSplit]:
    """The parts of the splits before what has ended them."""
    _, reached = contiguous(splits, reports)
    cut_off = [replace(split, end=min(split.end, reached[split.topic_partition])) for split in splits]
    return [split for split in cut_off if split.end > split.start]
