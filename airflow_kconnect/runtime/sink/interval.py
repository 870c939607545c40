"""Which offsets belong to an interval of time, for all sinks, less what an earlier attempt has written."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.sink.plan import OffsetRange, interval_ranges, written_ranges
from airflow_kconnect.runtime.written_ranges import by_topic


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
    upstream = by_topic(replay.written)
    for topic in dict.fromkeys(tp.topic for tp in bounds):
        if topic in upstream:
            in_topic, of_topic = written_ranges(
                upstream[topic], {tp: b for tp, b in bounds.items() if tp.topic == topic}
            )
            warnings += of_topic
            ranges += in_topic
            continue
        own = {tp.partition: bound for tp, bound in bounds.items() if tp.topic == topic}
        first, after = (admin.offsets_at(topic, own, ms) for ms in (replay.start_ms, replay.end_ms))
        begins, ends = ({p: getattr(bound, name) for p, bound in own.items()} for name in ("begin", "end"))
        in_topic, of_topic = interval_ranges(topic, (first, after), begins, ends)
        warnings += of_topic
        ranges += in_topic
    if upstream and not any(range_.size for range_ in ranges):
        text = (
            f"sources of the same DAG run have replayed {replay} into {', '.join(sorted(upstream))}, and nothing of it"
            f" is in the topics of this sink: {', '.join(sorted({tp.topic for tp in bounds}))}"
        )
        warnings.append(RunWarning(Kind.EMPTY_REPLAY, text))
    left = [
        OffsetRange(r.topic_partition, min(max(r.start, written.get(r.topic_partition, -1)), r.end), r.end)
        for r in ranges
    ]
    return left, warnings
