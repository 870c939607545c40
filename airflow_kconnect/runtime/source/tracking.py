"""How the progress of a source split is kept: as its marker, or as the source offsets that its rows carry."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.java_text.json import canonical_json, partition_identity
from airflow_kconnect.runtime.source.acknowledgements import AckWriter
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.together import note
from airflow_kconnect.runtime.written_ranges import merged
from airflow_kconnect.stores.offset_topic.follower import PlanPointer
from airflow_kconnect.stores.offset_topic.records import Marker, marker_key, offset_key, offset_value


class Tracking(ABC):
    """What the writer of a split asks about its progress. A failure of any method ends the split."""

    commits_empty: bool
    """Whether a split without rows still has to commit something."""
    keeps_complete = False
    """Whether what is complete is committed before an error of what follows ends the split."""

    @abstractmethod
    def uncommitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that no earlier attempt of the split has committed. Called for each batch, in order."""

    def parts(self, rows: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, bool]]:
        """Rows of `uncommitted` in parts, and whether a later attempt can resume after each: if not, what it belongs to
        is to come.
        """
        yield rows, True

    @abstractmethod
    def check_end(self) -> None:
        """Called after the last batch.

        :raises RetriableError: the row at which an earlier attempt stopped never came.
        """

    @abstractmethod
    def position(self, rows: pa.RecordBatch, row: int) -> tuple[str, Any]:
        """Source partition (JSON) and offset of a row."""

    @abstractmethod
    def where(self, rows: pa.RecordBatch, row: int) -> str:
        """The position of a row, for an error's text."""

    @abstractmethod
    def remember(self, rows: pa.RecordBatch) -> None:
        """These rows belong to the open transaction."""

    @abstractmethod
    def can_commit(self) -> bool:
        """Whether a later attempt can resume after the last row."""

    def unfinished(self) -> str | None:
        """The source partition of which the open transaction has rows that must not be committed, since what belongs
        to them has not come; None if it may be committed.
        """
        return None

    @abstractmethod
    def records(self, written: int, bad: int, *, done: bool) -> Iterator[tuple[bytes, bytes]]:
        """(key, value) of the offset topic's records that belong to the open transaction.

        :param written: records of this attempt, with those of the open transaction. :param bad: its bad records.
        :param done: the split is complete.
        """

    @abstractmethod
    def committed(self) -> None:
        """The transaction is committed; its counts are in the report."""

    def finished(self) -> None:
        """Nothing more will be written."""


class MarkerTracking(Tracking):
    """Spark-native splits: the marker has the progress of the last row written.

    :param marker: that of an earlier attempt, or None.
    """

    commits_empty = True

    def __init__(self, pointer: PlanPointer, report: SplitReport, marker: Marker | None) -> None:
        self._pointer, self._report = pointer, report
        self._written_before = marker.records if marker else 0
        self._bad_before = report.bad = marker.bad if marker else 0
        report.topics = list(marker.topics) if marker else []
        report.ranges = merged([marker.ranges]) if marker else {}
        self._last = report.resume_point = marker.progress if marker else None
        # The reader starts at the resume point known to the driver; only rows after that are skipped.
        self._resume = None if marker == pointer.markers.get(report.split) else self._last
        self._can_commit = True

    def uncommitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._resume is None or not batch.num_rows:
            return batch
        progress = batch.column("progress")
        if isinstance(self._resume, int):
            first = int(pc.sum(pc.less_equal(progress, self._resume)).as_py() or 0)
        else:
            row = int(pc.index(progress, self._resume).as_py())
            first = batch.num_rows if row < 0 else row + 1
            self._resume = self._resume if row < 0 else None
        if first < batch.num_rows:
            self._resume = None
        self._report.already_done += first
        return batch.slice(first)

    def check_end(self) -> None:
        """Numbers have an order; a text that never came means that the source now reads differently."""
        if isinstance(self._resume, str):
            raise RetriableError(
                f"split {self._report.split} of connector {self._pointer.connector} was committed up to"
                f" {self._resume!r} by another attempt, and the source no longer delivers that row: the next run"
                " resumes after it"
            )

    def position(self, rows: pa.RecordBatch, row: int) -> tuple[str, Any]:
        split = self._pointer.plan.splits[self._report.split]
        return canonical_json(split.source_partition), rows.column("progress")[row].as_py()

    def where(self, rows: pa.RecordBatch, row: int) -> str:
        partition, progress = self.position(rows, row)
        return f"source partition {partition} position {progress}"

    def remember(self, rows: pa.RecordBatch) -> None:
        self._last = rows.column("progress")[-1].as_py()
        self._can_commit = self._last is not None

    def can_commit(self) -> bool:
        return self._can_commit

    def records(self, written: int, bad: int, *, done: bool) -> Iterator[tuple[bytes, bytes]]:
        pointer, report = self._pointer, self._report
        records, bad = self._written_before + written, self._bad_before + bad
        marker = Marker(pointer.plan.plan_id, self._last, done, records, tuple(report.topics), report.ranges, bad)
        yield marker_key(pointer.connector, report.split), marker.encode()

    def committed(self) -> None:
        self._report.resume_point = self._last
        self._report.bad = self._bad_before + self._report.dead_lettered


class OffsetTracking(Tracking):
    """Poll splits: each row carries its source partition and offset, as in Kafka Connect.

    :param known_keys: keys under which the topic already has offsets of source partitions, reused byte for byte.
    :param at_offsets: whether a row with a source partition and no offset is not a resume point: the transaction stays
        open until one with an offset follows.
    """

    commits_empty = False

    def __init__(
        self, pointer: PlanPointer, report: SplitReport, known_keys: Mapping[str, bytes], at_offsets: bool
    ) -> None:
        self._pointer, self._report, self._known_keys, self._at_offsets = pointer, report, known_keys, at_offsets
        self.keeps_complete = at_offsets
        self._acks = AckWriter(pointer.plan.plan_id, report.split)
        self._last: dict[str, str] = {}
        self._open: set[str] = set()  # source partitions whose last row is not a resume point

    def uncommitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def parts(self, rows: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, bool]]:
        """Cut after the last row at which all source partitions can be resumed."""
        if not self._at_offsets:
            yield rows, True
            return
        opened, cut = set(self._open), 0
        for n, (partition, offset) in enumerate(self._positions(rows), 1):
            note(opened, partition, offset)
            cut = cut if opened else n
        if cut:
            yield rows.slice(0, cut), True
        if cut < rows.num_rows:
            yield rows.slice(cut), False

    def check_end(self) -> None:
        return None

    def position(self, rows: pa.RecordBatch, row: int) -> tuple[str, Any]:
        partition, offset = (rows.column(f"source_{what}")[row].as_py() for what in ("partition", "offset"))
        return str(partition), offset

    def where(self, rows: pa.RecordBatch, row: int) -> str:
        partition, offset = self.position(rows, row)
        return f"source partition {partition} offset {offset}"

    def remember(self, rows: pa.RecordBatch) -> None:
        positions = list(self._positions(rows))
        self._last.update(self._offsets(positions))
        for partition, offset in positions if self._at_offsets else ():
            note(self._open, partition, offset)

    def _positions(self, rows: pa.RecordBatch) -> Iterator[tuple[str | None, str | None]]:
        return zip(*(rows.column(f"source_{what}").to_pylist() for what in ("partition", "offset")), strict=True)

    def _offsets(self, positions: Iterable[tuple[str | None, str | None]]) -> Iterator[tuple[str, str]]:
        return ((p, o) for p, o in positions if p and o)

    def can_commit(self) -> bool:
        return not self._open

    def unfinished(self) -> str | None:
        return min(self._open, default=None)

    def records(self, written: int, bad: int, *, done: bool) -> Iterator[tuple[bytes, bytes]]:
        for partition, offset in self._last.items():
            source_partition = json.loads(partition)
            known = self._known_keys.get(partition_identity(source_partition))
            key = known or offset_key(self._pointer.connector, source_partition)
            yield key, offset_value(json.loads(offset))

    def committed(self) -> None:
        self._report.offsets = [(json.loads(p), json.loads(o)) for p, o in self._last.items()]
        self._acks.committed(self._report.handled)

    def finished(self) -> None:
        self._acks.finished()


class TransactionTracking(OffsetTracking):
    """Rows of transactions whose ends the task has defined, see `transactions.as_one`."""

    def position(self, rows: pa.RecordBatch, row: int) -> tuple[str, Any]:
        partition, offsets = super().position(rows, row)
        offset = json.loads(offsets or "{}").get(partition)
        return partition, None if offset is None else json.dumps(offset)

    def _positions(self, rows: pa.RecordBatch) -> Iterator[tuple[str | None, str | None]]:
        """As if all rows were of one source partition: any row that does not end a transaction holds it open."""
        return (("transaction", offsets) for offsets in rows.column("source_offset").to_pylist())

    def _offsets(self, positions: Iterable[tuple[str | None, str | None]]) -> Iterator[tuple[str, str]]:
        for _, offsets in positions:
            yield from ((p, json.dumps(o)) for p, o in json.loads(offsets or "{}").items())
