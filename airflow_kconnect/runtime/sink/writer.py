"""The last stage of a sink split: decoded rows go to a `SplitWriter` or a `SinkTask`; returns one report row."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connect.error_cells import LARGE, NEEDS_SPARK, pack_error
from airflow_kconnect.connect.errors import ConnectError, InternalError
from airflow_kconnect.places.system_errors import system_error
from airflow_kconnect.runtime.bad_records import (
    ErrorHandling,
    Triage,
    error_at,
    triage,
)
from airflow_kconnect.runtime.conversion.schema_ids import unknown_sample
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.progress import ProgressAddress, ProgressSender
from airflow_kconnect.runtime.process.split_worker import this_split
from airflow_kconnect.runtime.process.whole_input import whole
from airflow_kconnect.runtime.report_rows import report_row
from airflow_kconnect.runtime.sink.bad_records import DeadLetters, RefusedRecords
from airflow_kconnect.runtime.sink.delivery import Ended
from airflow_kconnect.runtime.sink.poll import TaskWriter
from airflow_kconnect.runtime.sink.task_reporter import TaskErrorReporter

_SAMPLES_MAX = 50
_SAMPLES_BYTES = 2_000_000


@dataclass(frozen=True)
class SinkWriterSettings:
    """What the writers of a round share; pickled into the tasks.

    :param errors: what to do with bad records.
    :param producer_config: of the producer of dead letters.
    :param consumer_config: for reading records that the target rejects again.
    :param replayed_topics: those from which dead letters may come; None if the records are not dead letters.
    """

    splits: tuple[SinkSplit, ...]
    writers: tuple[SplitWriter, ...]
    progress: ProgressAddress
    errors: ErrorHandling
    producer_config: Mapping[str, Any]
    consumer_config: Mapping[str, Any]
    replayed_topics: frozenset[str] | None


@dataclass
class SinkReport:
    """The report of a split.

    :param end: the offset after what was written: the split's end, or the record that ended it early.
    :param seen: rows that arrived, good and bad ones.
    :param stopped: a row has ended the split; later rows were ignored.
    :param result: facts for `NativeSinkConnector.commit`; None if the writer failed and nothing counts.
    :param unknown: (part, base64 bytes) of records of unknown shape.
    :param needs_spark: the rest cannot be read by a `BatchRenderer`.
    :param large: the record at `end` is too large for the chosen batch size.
    :param paused: a task takes no more records from `end` on, in this run.
    :param again: a task wants to be put records from `end` on again.
    :param error: the error of the record at `end`, or of the writer.
    """

    index: int
    end: int
    written: int = 0
    filtered: int = 0
    dead_lettered: int = 0
    seen: int = 0
    stopped: bool = False
    result: dict[str, Any] | None = None
    unknown: list[tuple[str, str]] = field(default_factory=list)
    needs_spark: bool = False
    large: bool = False
    paused: bool = False
    again: bool = False
    error: dict[str, Any] | None = None

    def count(self, triaged: Triage) -> None:
        """Add the counts of a batch."""
        self.written += triaged.good.num_rows
        self.filtered += triaged.filtered
        self.dead_lettered += triaged.passed_over

    def move_reported(self, count: int) -> None:
        """Count written records that are not in the target: its task has reported them, or it rejects them."""
        self.written -= count
        self.dead_lettered += count

    def take_from_task(self, result: Mapping[str, Any]) -> None:
        """Take what `TaskWriter.close` says of its records."""
        self.move_reported(result["reported"])
        self.written, self.filtered = self.written - result["skipped"], self.filtered + result["skipped"]
        self.paused, self.again = result["paused"], result["again"]
        self.end = min(self.end, result["safe"])


def uncounted(where: str, delivered: int, arrived: int) -> InternalError:
    """The error that ends a run before its offsets are committed: they would claim that all records are written."""
    return InternalError(
        f"{where}: {delivered} records were read, but {arrived} arrived at the writer; no offsets were committed. A"
        " transformation or a connector adds or drops rows: drop records by an error of the row instead"
    )


def sink_writer(settings: SinkWriterSettings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`, or for `SplitProcesses`: partition n holds the rows of split n."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = this_split()
        split, writer = settings.splits[index], settings.writers[index]
        report = SinkReport(index, split.end)
        try:
            with DeadLetters(settings.errors, settings.producer_config, split) as dead_letters:
                refused = None
                if settings.errors.tolerant:
                    consumer = settings.consumer_config
                    refused = RefusedRecords(dead_letters, split, consumer, settings.replayed_topics)
                progress = ProgressSender(settings.progress, index)
                SplitSink(split, writer, report, progress, dead_letters, refused).write(whole(batches))
        except ConnectError as error:
            report.error, report.result = pack_error(error), None
        except OSError as error:
            where = f"writing {split.topic_partition}" + (f": {error.filename}" if error.filename else "")
            report.error, report.result = pack_error(system_error(where, error)), None
        yield report_row(index, vars(report))

    return write


class SplitSink:
    """Writes the rows of a split, keeps count of them, and reports the bad ones.

    :param report: what happens to the split; changed as it is written.
    :param refused: records that the target rejects; None: any such record ends the run.
    """

    def __init__(
        self,
        split: SinkSplit,
        writer: SplitWriter,
        report: SinkReport,
        progress: ProgressSender,
        dead_letters: DeadLetters,
        refused: RefusedRecords | None = None,
    ) -> None:
        self._split, self._writer, self._report, self._progress = split, writer, report, progress
        self._dead_letters, self._refused = dead_letters, refused
        handling = dead_letters.handling
        # The writing end may find bad records, too.
        if isinstance(writer, TaskWriter) and handling.reports:
            writer.report_to(TaskErrorReporter(dead_letters.tell, tolerant=handling.tolerant))
        if refused is not None:
            writer.tolerate(refused.add)

    def write(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Write the rows up to the first that ends the split.

        :raises ConnectError: nothing of the split counts; the writer has been told to remove it.
        """
        try:
            self._writer.open(self._split)
            for batch in batches:
                if not self._write_batch(self._writer.checked(batch)):
                    break
            self._close()
        except BaseException:
            self._writer.abort()
            raise
        self._progress.send(self._report.written, done=True)

    def _write_batch(self, batch: pa.RecordBatch) -> bool:
        """Returns whether the split continues after it."""
        report, early = self._report, self._writer.durable_before_close
        report.seen += batch.num_rows
        triaged = triage(batch, self._dead_letters.handling.tolerant)
        if triaged.failed and early:
            self._report_failed(batch, triaged)
            self._dead_letters.flush()  # what the writer makes durable has an offset: these are never read again
        if triaged.good.num_rows and not self._is_taken(triaged.good):
            report.stopped = True  # all of the batch is read again, also its bad records
            return False
        if not early:
            self._report_failed(batch, triaged)
        report.count(triaged)
        report.move_reported(self._refused.report() if self._refused else 0)
        self._progress.send(report.written)
        if triaged.stopped is not None:
            _stop_at(batch, triaged.stopped, report, self._split)
        return triaged.stopped is None

    def _report_failed(self, batch: pa.RecordBatch, triaged: Triage) -> None:
        for row, error in triaged.failed:
            self._dead_letters.report(batch, row, error)

    def _is_taken(self, batch: pa.RecordBatch) -> bool:
        try:
            self._writer.write(batch)
        except Ended:
            return False
        failpoint("mid-write")
        return True

    def _close(self) -> None:
        report = self._report
        report.result = self._writer.close(report.end)
        self._dead_letters.flush()
        if isinstance(self._writer, TaskWriter):
            report.take_from_task(report.result)


def _stop_at(batch: pa.RecordBatch, row: int, report: SinkReport, split: SinkSplit) -> None:
    """End the split before this row; the report says why."""
    errors = batch.column("error")
    offset = batch.column("kafka_offset")[row].as_py()
    report.stopped = True
    if errors[row].as_py() == NEEDS_SPARK:
        report.needs_spark = True
    elif errors[row].as_py() == LARGE:
        report.large = True
    elif unknown_sample(errors[row].as_py()) is not None:
        report.unknown = _samples(errors.slice(row))
    else:
        error = error_at(batch, row, f"{split.topic_partition}@{offset}")
        if offset is None:
            raise error
        report.error = pack_error(error)
    report.end = offset


def _samples(errors: pa.Array) -> list[tuple[str, str]]:
    all_samples = (unknown_sample(cell) for cell in pc.unique(errors).to_pylist() if cell is not None)
    samples: list[tuple[str, str]] = []
    size = 0
    for part, data in islice((sample for sample in all_samples if sample is not None), _SAMPLES_MAX):
        size += len(data)
        if samples and size > _SAMPLES_BYTES:
            break
        samples.append((part, base64.b64encode(data).decode()))
    return samples


def samples_of(report: SinkReport) -> list[tuple[str, bytes]]:
    """The unknown records' (part, bytes)."""
    return [(part, base64.b64decode(text)) for part, text in report.unknown]
