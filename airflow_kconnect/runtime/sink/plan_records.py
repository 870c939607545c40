"""The records of a plan as frames: what is good passes on to Spark's writers, what is not is counted on the way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.planned import PlanRecords, SinkPlan
from airflow_kconnect.connect.connector.row_counts import RowCount, soon
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame
from airflow_kconnect.runtime.bad_records import is_record_error
from airflow_kconnect.runtime.sink.passing import Passing
from airflow_kconnect.runtime.sink.writer import uncounted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Frames = Callable[[list[SinkSplit], bool, ExpectedObjects | None], tuple[RecordFrame, Callable[[], int]]]

_STOPPED = "KCONNECT_ROW_STOPPED"


class KafkaPlanRecords(PlanRecords):
    """Makes frames of the splits of a plan, and counts.

    :param frame_of: makes the frame of some splits, with the records as they are in Kafka or without, and with what
        schemaless values probably are; its second value returns how many records were read, afterwards.
    :param announce: see `PlanRecords.announce`.
    :param at_once: what is written is visible at once: see `PlannedSinkConnector.staged`.
    :param tolerant: bad records are skipped.
    """

    def __init__(
        self,
        plan: SinkPlan,
        splits: list[SinkSplit],
        frame_of: Frames,
        announce: Callable[[Collection[str]], None],
        *,
        at_once: bool,
        tolerant: bool,
    ) -> None:
        self.plan = plan
        self._splits, self._frame_of, self._announce = splits, frame_of, announce
        self._at_once, self._tolerant = at_once, tolerant
        self._delivered: list[Callable[[], int]] = []
        self._sizes: list[int] = []
        self._counted: list[Passing] = []

    def frame(self, topics: Collection[str] | None = None, expected: ExpectedObjects | None = None) -> RecordFrame:
        splits = self._splits_of(topics)
        frame, delivered = self._frame_of(splits, False, expected)
        self._delivered.append(delivered)
        self._sizes.append(sum(split.end - split.start for split in splits))
        return frame

    def look(self, topics: Collection[str] | None = None, first: int | None = None) -> RecordFrame:
        splits = self._splits_of(topics)
        if first is not None:
            splits = [replace(split, end=min(split.end, split.start + first)) for split in _firsts(splits)]
        return self._frame_of(splits, False, None)[0]

    def originals(self, topics: Collection[str] | None = None) -> RecordFrame:
        return self._frame_of(self._splits_of(topics), True, None)[0]

    def _splits_of(self, topics: Collection[str] | None) -> list[SinkSplit]:
        return [split for split in self._splits if topics is None or split.topic in topics]

    @contextmanager
    def attempt(self) -> Iterator[None]:
        delivered, counted = len(self._delivered), len(self._counted)
        try:
            yield
        except BaseException:
            del self._delivered[delivered:], self._sizes[delivered:], self._counted[counted:]
            raise

    def good(
        self, rows: DataFrame, own: Column | None = None, counted: Column | None = None
    ) -> tuple[DataFrame, RowCount]:
        from pyspark.sql import functions as F

        # Nullable for Spark too: where it knows that no row is good, it runs nothing, and counts nothing.
        error, everything = F.nullif(F.col("error"), F.lit("")), F.lit(True)
        own = everything if own is None else F.coalesce(own, F.lit(False))
        counts = own if counted is None else F.coalesce(counted, F.lit(False))
        is_good, is_dropped, is_record = error.isNull(), error == DROPPED, is_record_error(error)
        passing = Passing(
            rows,
            {
                "seen": F.count(F.lit(1)),
                "good": F.count_if(counts & is_good),
                "dropped": F.count_if(counts & is_dropped),
                "bad": F.count_if(counts & ~is_good & ~is_dropped),
                "others": F.count_if(counts & ~is_good & ~is_dropped & ~is_record),
                **({} if counted is None else {"own": F.count_if(own & is_good)}),
            },
        )
        self._counted.append(passing)
        if self._at_once:
            skipped = is_good | is_dropped | ~counts | (is_record if self._tolerant else F.lit(False))
            is_good = F.when(F.coalesce(skipped, F.lit(False)), is_good).otherwise(
                F.raise_error(F.lit(_STOPPED)).cast("boolean")
            )
        name = "good" if counted is None else "own"
        count = RowCount(lambda: passing[name], lambda: self._count_again(passing)[name])
        return passing.rows.where(is_good & own).drop("error"), count

    def announce(self, tables: Collection[str]) -> None:
        self._announce(tables)

    @property
    def written(self) -> int:
        """How many good records there were."""
        return self._count("good")

    @property
    def filtered(self) -> int:
        """How many records transformations have dropped."""
        return self._count("dropped")

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many records were good, dropped and bad."""
        return self.written, self.filtered, self.bad

    @property
    def bad(self) -> int:
        return self._count("bad")

    @property
    def unknown(self) -> int:
        """How many of them the job could not handle, so that it has to be repeated, or ends the run."""
        return self._count("others")

    def check_complete(self, connector: str) -> None:
        """:raises InternalError: records have got lost between Kafka and the writer."""
        for passing, delivered_here, size in zip(self._counted, self._delivered, self._sizes, strict=True):
            if soon(delivered_here) > size:
                self._count_again(passing)
        delivered, seen = sum(map(soon, self._delivered)), self._count("seen")
        if delivered != seen:
            raise uncounted(f"connector {connector}", delivered, seen)

    def count_again(self) -> None:
        """Count exactly what has only been observed."""
        for passing in self._counted:
            self._count_again(passing)

    def _count_again(self, passing: Passing) -> Passing:
        number = self._counted.index(passing)
        if soon(self._delivered[number]) == soon(partial(passing.__getitem__, "seen")):
            passing.count_again()
            self._delivered[number] = partial(passing.__getitem__, "seen")
        return passing

    def _count(self, name: str) -> int:
        return sum(soon(partial(each.__getitem__, name)) for each in self._counted)


def _firsts(splits: list[SinkSplit]) -> list[SinkSplit]:
    """The first split of each topic-partition."""
    return list({split.topic_partition: split for split in sorted(splits, key=lambda split: -split.start)}.values())


def stopped(error: Exception) -> bool:
    """Whether a job has failed because of a row that must not be skipped."""
    return _STOPPED in str(error)
