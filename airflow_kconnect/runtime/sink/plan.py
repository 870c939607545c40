"""What a sink run reads: bounded ranges starting at the committed offsets, cut into splits. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.runs.warnings import Kind, RunWarning

CURE = (
    "What was read says nothing about what is there now: reset the connector's offsets (`kconnect offsets reset`) to"
    " read the topic from its beginning, or alter them"
)
SMALLEST = 100_000
LARGEST = 1_000_000
ROUND_RECORDS = 5_000_000


@dataclass(frozen=True)
class OffsetRange:
    """A topic-partition's offsets that a run may read: ``[start, end)``."""

    topic_partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        """How many offsets these are; some may have no record."""
        return self.end - self.start


def start_offset(
    topic_partition: TopicPartition,
    committed: int | None,
    bounds: Bounds,
    reset: str | None,
    *,
    lost_by_target: bool = False,
) -> tuple[int, str | None]:
    """Where a partition starts, and a warning if records were skipped at the user's request.

    :param committed: the sink's position; None if it has none. Another tool may have committed an offset that lies
        within an open transaction: there is nothing to read from there yet.
    :param reset: see `offset_reset`. Connect's default is ``earliest``, which also means: continue at the beginning if
        retention has deleted unread records. Here that must be explicit: without the key such a loss fails the run.
    :param lost_by_target: the position is not where runs have got to, but from where on the target has lost rows. The
        end of the partition, which ``latest`` means, would then come after records that no run has read.
    :raises DataError: records were deleted before they were read, or the offset is beyond the end.
    """
    begin, end, log_end = bounds
    if committed is None:
        if reset == "none":
            raise DataError(
                f"{topic_partition} has no committed offset and `consumer.override.auto.offset.reset` is none"
            )
        return (end if reset == "latest" else begin), None
    if committed > log_end:
        raise DataError(
            f"{topic_partition}: offset {committed} is committed, but the partition ends at {log_end}: the topic was"
            f" created again, or its brokers have lost records. {CURE}"
        )
    if committed >= begin:
        return committed, None
    lost = f"{topic_partition}: offsets {committed} to {begin - 1} were deleted before they were read"
    if reset == "latest" and lost_by_target:
        reset = "earliest"
    if reset in ("earliest", "latest"):
        return (begin if reset == "earliest" else end), RunWarning(Kind.LOST, f"{lost}; resuming at {reset}")
    raise DataError(
        f"{lost}. Set `consumer.override.auto.offset.reset` to earliest or latest to resume there, or alter the"
        " connector's offset"
    )


def interval_ranges(
    topic: str, bounds: tuple[Mapping[int, int], Mapping[int, int]], begins: Mapping[int, int], ends: Mapping[int, int]
) -> tuple[list[OffsetRange], list[str]]:
    """The offsets of an interval of time, and warnings if its beginning may have been deleted.

    A partition's interval extends from the first record with its start or a later timestamp to the first one with its
    end or a later one. So adjacent intervals share no record and leave none out, even where timestamps go back.

    :param bounds: these offsets, by partition; -1 where there is none.
    """
    first, after = bounds
    ranges: list[OffsetRange] = []
    warnings: list[str] = []
    for p, end in ends.items():
        topic_partition = TopicPartition(topic, p)
        last = end if after[p] < 0 else min(after[p], end)
        start = last if first[p] < 0 else min(first[p], last)
        if start == begins[p] > 0 and start < last:
            text = f"{topic_partition} begins at offset {start}: earlier records of the interval may have been deleted"
            warnings.append(RunWarning(Kind.LOST, text))
        ranges.append(OffsetRange(topic_partition, start, last))
    return ranges, warnings


def written_ranges(
    written: Mapping[TopicPartition, tuple[int, int]], bounds: Mapping[TopicPartition, Bounds]
) -> tuple[list[OffsetRange], list[str]]:
    """The offsets that a source of the same DAG run has written, and warnings if some are deleted by now.

    :param bounds: of all partitions of the topic.
    :raises DataError: the topic was created again since then.
    :raises RetriableError: an open transaction of others still hides a part of them from readers.
    """
    ranges: list[OffsetRange] = []
    warnings: list[str] = []
    for place, (begin, end, log_end) in bounds.items():
        first, last = written.get(place, (end, end))
        if last > log_end:
            raise DataError(
                f"{place} ends at {log_end}, and was replayed up to {last}: it was created again since then"
            )
        if last > end:
            raise RetriableError(f"{place}: an open transaction hides what was replayed; try again when it is over")
        if first < begin:
            text = f"{place}: offsets {first} to {min(begin, last) - 1} were deleted since they were replayed"
            warnings.append(RunWarning(Kind.LOST, text))
        start = min(max(first, begin), last)
        ranges.append(OffsetRange(place, start, last))
    return ranges, warnings


def bounded(ranges: Iterable[OffsetRange], max_records: int) -> list[OffsetRange]:
    """The same ranges with at most `most` offsets in total, the first ones first."""
    taken: list[OffsetRange] = []
    for range_ in ranges:
        size = min(range_.size, max_records)
        if size > 0:
            taken.append(OffsetRange(range_.topic_partition, range_.start, range_.start + size))
            max_records -= size
    return taken


def cut(
    ranges: Iterable[OffsetRange], *, ordered: bool, splits_max: int | None = None, parallelism: int = 1
) -> list[SinkSplit]:
    """Splits of the ranges; one per partition if its order matters.

    Laid end to end, the ranges are cut into equal parts, one or more per core, and at the end of each partition. The
    largest come first, so that the small ones fill up the cores at the end (longest processing time first).

    :param splits_max: at most this many splits per partition; these are equal.
    :param parallelism: cores.
    """
    taken = [range_ for range_ in ranges if range_.size > 0]
    if ordered:
        return [_split(range_, range_.start, range_.end) for range_ in taken]
    part = _part(sum(range_.size for range_ in taken), parallelism)
    splits, before = [], 0
    for range_ in taken:
        size = range_.size
        edges = [range_.start, *range(range_.start + part - before % part, range_.end, part), range_.end]
        if splits_max is not None and len(edges) - 1 > splits_max:
            edges = [range_.start + size * n // splits_max for n in range(splits_max + 1)]
        splits += [_split(range_, first, last) for first, last in pairwise(edges)]
        before += size
    return sorted(splits, key=lambda split: split.start - split.end)


def _part(total: int, parallelism: int) -> int:
    """Records per part: as few waves of parts as `LARGEST` allows, if no part gets smaller than `SMALLEST`."""
    waves = -(-total // (parallelism * LARGEST))
    return max(-(-total // (parallelism * max(waves, 1))), SMALLEST)


def _split(range_: OffsetRange, first: int, last: int) -> SinkSplit:
    return SinkSplit(range_.topic_partition.topic, range_.topic_partition.partition, first, last)
