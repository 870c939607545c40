"""Which offsets belong to an interval of time, for all sinks, less what an earlier attempt has written."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.runtime.sink.plan import OffsetRange, interval_ranges


def ranges_left(
    admin: KafkaAdmin, replay: Replay, written: Mapping[TopicPartition, int], bounds: Mapping[TopicPartition, Bounds]
) -> tuple[list[OffsetRange], list[str]]:
    """A range for each partition, which may be empty, and warnings; see `interval_ranges`.

    :param written: where earlier attempts have got to.
    :param bounds: of all partitions of the topics.
    :raises RetriableError: the broker is unavailable.
    """
    ranges: list[OffsetRange] = []
    warnings: list[str] = []
    for topic in dict.fromkeys(tp.topic for tp in bounds):
        own = {tp.partition: bound for tp, bound in bounds.items() if tp.topic == topic}
        first, after = (admin.offsets_at(topic, own, ms) for ms in (replay.start_ms, replay.end_ms))
        begins, ends = ({p: getattr(bound, name) for p, bound in own.items()} for name in ("begin", "end"))
        in_topic, of_topic = interval_ranges(topic, (first, after), begins, ends)
        warnings += of_topic
        ranges += in_topic
    left = [
        OffsetRange(r.topic_partition, min(max(r.start, written.get(r.topic_partition, -1)), r.end), r.end)
        for r in ranges
    ]
    return left, warnings
