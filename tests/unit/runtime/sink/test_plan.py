"""Which offsets a sink run reads, and how they are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.runs.warnings import kind_of
from airflow_kconnect.runtime.sink.plan import (
    LARGEST,
    SMALLEST,
    OffsetRange,
    bounded,
    cut,
    start_offset,
    written_ranges,
)

P = TopicPartition("t", 0)
BOUNDS = Bounds(begin=10, end=20, log_end=30)
OFFSETS = st.integers(0, 10**7)
RANGES = st.lists(st.tuples(OFFSETS, st.integers(1, 2_000_000)), max_size=5).map(
    lambda pairs: [OffsetRange(TopicPartition("t", n), start, start + size) for n, (start, size) in enumerate(pairs)]
)


class TestStartOffset:
    @pytest.mark.parametrize(
        ("committed", "reset", "expected"),
        [
            pytest.param(None, None, 10, id="no offset: the beginning"),
            pytest.param(None, "earliest", 10, id="no offset, earliest"),
            pytest.param(None, "latest", 20, id="no offset, latest"),
            pytest.param(10, None, 10, id="at the beginning"),
            pytest.param(15, None, 15, id="between"),
            pytest.param(20, None, 20, id="at the end"),
            pytest.param(15, "none", 15, id="an offset, none"),
            pytest.param(15, "latest", 15, id="an offset, latest"),
            pytest.param(25, None, 25, id="within an open transaction"),
            pytest.param(25, "earliest", 25, id="within an open transaction, earliest"),
            pytest.param(30, "latest", 30, id="at the end of an open transaction"),
        ],
    )
    def test_without_a_loss(self, committed: int | None, reset: str | None, expected: int) -> None:
        assert start_offset(P, committed, BOUNDS, reset) == (expected, None)

    def test_no_offset_and_none_is_an_error(self) -> None:
        with pytest.raises(DataError, match="t-0 has no committed offset"):
            start_offset(P, None, BOUNDS, "none")

    @pytest.mark.parametrize("reset", [None, "none"])
    def test_deleted_records_are_an_error(self, reset: str | None) -> None:
        with pytest.raises(DataError, match="t-0: offsets 5 to 9 were deleted before they were read"):
            start_offset(P, 5, BOUNDS, reset)

    @pytest.mark.parametrize("reset", [None, "none", "earliest", "latest"])
    def test_an_offset_beyond_the_end_is_an_error_whatever_the_user_says(self, reset: str | None) -> None:
        text = "t-0: offset 31 is committed, but the partition ends at 30: the topic was created again"
        with pytest.raises(DataError, match=text):
            start_offset(P, 31, BOUNDS, reset)

    @pytest.mark.parametrize(("reset", "expected"), [("earliest", 10), ("latest", 20)])
    def test_a_loss_that_the_user_accepts_is_skipped_and_said(self, reset: str, expected: int) -> None:
        warning = f"t-0: offsets 5 to 9 were deleted before they were read; resuming at {reset}"
        assert start_offset(P, 5, BOUNDS, reset) == (expected, warning)

    @pytest.mark.parametrize("reset", ["earliest", "latest"])
    def test_a_target_that_lost_its_rows_is_filled_from_the_beginning(self, reset: str) -> None:
        start, warning = start_offset(P, 5, BOUNDS, reset, lost_by_target=True)
        assert (start, str(warning).endswith("resuming at earliest")) == (10, True)


class TestBounded:
    Q = TopicPartition("t", 1)

    @pytest.mark.parametrize(
        ("max_records", "expected"),
        [
            pytest.param(100, [OffsetRange(P, 0, 10), OffsetRange(Q, 5, 10)], id="more than there is"),
            pytest.param(15, [OffsetRange(P, 0, 10), OffsetRange(Q, 5, 10)], id="all"),
            pytest.param(12, [OffsetRange(P, 0, 10), OffsetRange(Q, 5, 7)], id="a part of the second"),
            pytest.param(10, [OffsetRange(P, 0, 10)], id="the first alone"),
            pytest.param(3, [OffsetRange(P, 0, 3)], id="a part of the first"),
            pytest.param(0, [], id="nothing"),
        ],
    )
    def test_table(self, max_records: int, expected: list[OffsetRange]) -> None:
        assert bounded([OffsetRange(P, 0, 10), OffsetRange(self.Q, 5, 10)], max_records) == expected

    def test_empty_ranges_are_left_out(self) -> None:
        assert bounded([OffsetRange(P, 5, 5)], 10) == []

    @given(RANGES, st.integers(0, 10**7))
    def test_it_never_exceeds_and_never_wastes(self, ranges: list[OffsetRange], max_records: int) -> None:
        available = sum(range_.end - range_.start for range_ in ranges)
        assert sum(range_.end - range_.start for range_ in bounded(ranges, max_records)) == min(max_records, available)

    @given(RANGES, st.integers(0, 10**7))
    def test_each_range_begins_where_it_began(self, ranges: list[OffsetRange], max_records: int) -> None:
        starts = {range_.topic_partition: range_.start for range_ in ranges}
        assert all(starts[range_.topic_partition] == range_.start for range_ in bounded(ranges, max_records))


def cover(splits: list[SinkSplit]) -> dict[TopicPartition, tuple[int, int]]:
    """First and last offset of each partition's splits; fails if they overlap or leave a gap."""
    by_partition: dict[TopicPartition, list[SinkSplit]] = {}
    for split in splits:
        by_partition.setdefault(split.topic_partition, []).append(split)
    for pieces in by_partition.values():
        pieces.sort(key=lambda split: split.start)
        assert all(one.end == other.start for one, other in pairwise(pieces))
    return {topic_partition: (pieces[0].start, pieces[-1].end) for topic_partition, pieces in by_partition.items()}


class TestCut:
    @pytest.mark.parametrize(
        ("size", "splits_max", "pieces"),
        [
            pytest.param(1, None, 1, id="one record"),
            pytest.param(SMALLEST, None, 1, id="too few to be cut"),
            pytest.param(3 * SMALLEST, None, 2, id="one for each core"),
            pytest.param(2 * LARGEST, None, 2, id="as many as a split may have"),
            pytest.param(2 * LARGEST + 1, None, 4, id="two waves"),
            pytest.param(20 * LARGEST, 4, 4, id="at most four"),
            pytest.param(20 * LARGEST, 1, 1, id="at most one"),
        ],
    )
    def test_number_of_splits_on_two_cores(self, size: int, splits_max: int | None, pieces: int) -> None:
        assert len(cut([OffsetRange(P, 7, 7 + size)], ordered=False, splits_max=splits_max, parallelism=2)) == pieces

    def test_uneven_partitions_keep_both_cores_busy_to_the_end(self) -> None:
        ranges = [OffsetRange(P, 0, 300_000), OffsetRange(TopicPartition("t", 1), 0, 700_000)]
        sizes = [split.end - split.start for split in cut(ranges, ordered=False, parallelism=2)]
        assert sizes == [500_000, 300_000, 200_000]

    def test_a_partition_whose_order_matters_is_one_split(self) -> None:
        assert cut([OffsetRange(P, 7, 10_000_000)], ordered=True) == [SinkSplit("t", 0, 7, 10_000_000)]

    @given(RANGES, st.booleans(), st.none() | st.integers(1, 20))
    def test_splits_cover_the_ranges_exactly(
        self, ranges: list[OffsetRange], ordered: bool, splits_max: int | None
    ) -> None:
        expected = {range_.topic_partition: (range_.start, range_.end) for range_ in ranges}
        assert cover(cut(ranges, ordered=ordered, splits_max=splits_max)) == expected

    @given(RANGES, st.booleans(), st.none() | st.integers(1, 20))
    def test_no_split_is_empty(self, ranges: list[OffsetRange], ordered: bool, splits_max: int | None) -> None:
        assert all(split.start < split.end for split in cut(ranges, ordered=ordered, splits_max=splits_max))

    @given(RANGES)
    def test_no_split_is_too_large(self, ranges: list[OffsetRange]) -> None:
        assert all(split.end - split.start <= LARGEST for split in cut(ranges, ordered=False))

    def test_an_empty_range_has_no_splits(self) -> None:
        assert cut([OffsetRange(P, 5, 5)], ordered=False) == []


class TestWrittenRanges:
    """Offsets that a source of the same DAG run has written."""

    PLACE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)

    @pytest.mark.parametrize(
        ("written", "begin", "expected", "kinds"),
        [
            ((5, 8), 0, (5, 8), []),
            ((5, 8), 6, (6, 8), ["lost"]),
            ((5, 8), 9, (8, 8), ["lost"]),
        ],
        ids=["all", "some are deleted", "all are deleted"],
    )
    def test_they_are_taken_as_far_as_they_are_there(
        self, written: tuple[int, int], begin: int, expected: tuple[int, int], kinds: list[str]
    ) -> None:
        bounds = {self.PLACE: Bounds(begin, 10, 10), self.OTHER: Bounds(0, 3, 3)}
        ranges, warnings = written_ranges({self.PLACE: written}, bounds)
        assert [(r.start, r.end) for r in ranges] == [expected, (3, 3)]
        assert [kind_of(warning) for warning in warnings] == kinds

    @pytest.mark.parametrize(
        ("bounds", "error"), [(Bounds(0, 7, 9), RetriableError), (Bounds(0, 2, 2), DataError)], ids=["hidden", "gone"]
    )
    def test_what_cannot_be_read_is_an_error(self, bounds: Bounds, error: type[Exception]) -> None:
        with pytest.raises(error):
            written_ranges({self.PLACE: (5, 8)}, {self.PLACE: bounds})
