"""The reporter of a Python sink task for records that it cannot write (``ErrantRecordReporter``, KIP-610)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.errors import DataError, named
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.runtime.bad_records import FailedRecord, original_of

STAGE, EXECUTING = "TASK_PUT", "org.apache.kafka.connect.sink.SinkTask"

Tell = Callable[[FailedRecord, RecordError], None]
_Place = tuple[str, int | None, int]


class TaskErrorReporter:
    """Finds the original bytes of the records of the current batch.

    :param tell: reports a failed record.
    :param tolerant: ``errors.tolerance`` is ``all``.
    """

    def __init__(self, tell: Tell, *, tolerant: bool) -> None:
        self._tell, self._tolerant = tell, tolerant
        self._batch: pa.RecordBatch | None = None
        self._offsets: list[int] = []
        self._records: Sequence[SinkRecord] = ()
        self._rows: dict[int, int] = {}
        self._rows_by_place: dict[_Place, int] = {}
        self._failure: DataError | None = None
        self._reported: set[int] = set()
        self._told: set[int] = set()

    def begin(self, batch: pa.RecordBatch, records: Sequence[SinkRecord]) -> None:
        """The records of this batch are put next. What was reported of it does not count, and is not told again."""
        self._batch, self._records = batch, records
        self._offsets = batch.column("kafka_offset").to_pylist()
        self._rows = {id(record): row for row, record in enumerate(records)}
        self._rows_by_place = {_place(record): row for row, record in enumerate(records)}
        self._reported.difference_update(self._offsets)

    def report(self, record: SinkRecord, error: Exception) -> None:
        """See `ErrantRecordReporter.report`."""
        row = self._rows.get(id(record), self._rows_by_place.get(_place(record)))
        offset = record.kafka_offset if row is None else self._offsets[row]
        if offset not in self._told:
            self._told.add(offset)
            self._tell(
                self._failed_record(record, row), RecordError(STAGE, EXECUTING, type(error).__name__, str(error))
            )
        if not self._tolerant:
            where = f"{record.read_topic}-{record.partition}@{record.kafka_offset}"
            self._failure = DataError(f"bad record at {where}: {STAGE}: {named(error)}")
            raise self._failure
        self._reported.add(offset)

    def _failed_record(self, record: SinkRecord, row: int | None) -> FailedRecord:
        original = {} if row is None or self._batch is None else original_of(self._batch, row)
        position: dict[str, Any] = {"topic": record.topic, "partition": record.partition, "offset": record.kafka_offset}
        return FailedRecord(**{**position, **original})

    @property
    def reported(self) -> int:
        """How many records were reported when they were last put."""
        return len(self._reported)

    def raise_if_failed(self) -> None:
        """:raises DataError: a reported record must end the run, although the task continued."""
        if self._failure is not None:
            raise self._failure


def _place(record: SinkRecord) -> _Place:
    """Replayed dead letters of several topics and partitions may have the same offset."""
    return record.topic, record.partition, record.kafka_offset
