"""The end of a sink split: decoded rows go to a `SplitWriter` or to a `SinkTask`; answers with one report row."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector import SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.connect.task_errors import error_from_column, pack_error
from airflow_kconnect.runtime.decoding import unknown_sample
from airflow_kconnect.runtime.failpoints import failpoint
from airflow_kconnect.runtime.progress import ProgressAddress, ProgressSender

_SAMPLES_MAX = 50


@dataclass(frozen=True)
class SinkWriterSettings:
    """What the writers of a round share; pickled into the tasks."""

    splits: tuple[SinkSplit, ...]
    writers: tuple[SplitWriter, ...]
    progress: ProgressAddress


@dataclass
class SinkReport:
    """The answer of a split.

    :param end: the offset after what was written: the split's end, or the record that ended it early.
    :param result: facts for `NativeSinkConnector.commit`; None if the writer failed and nothing counts.
    :param unknown: (part, base64 bytes) of records whose shape was not known.
    :param error: the error of the record at `end`, or of the writer.
    """

    index: int
    end: int
    written: int = 0
    result: dict[str, Any] | None = None
    unknown: list[tuple[str, str]] = field(default_factory=list)
    error: dict[str, Any] | None = None


def sink_writer(settings: SinkWriterSettings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: Spark partition n holds the rows of split n."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        index = context.partitionId()
        split, writer = settings.splits[index], settings.writers[index]
        report = SinkReport(index, split.end)
        try:
            _write_split(split, writer, report, batches, ProgressSender(settings.progress, index))
        except ConnectError as error:
            report.error, report.result = pack_error(error), None
        except OSError as error:
            failure = DataError(f"writing {split.topic_partition}: {error.strerror}: {error.filename}")
            report.error, report.result = pack_error(failure), None
        arrays = [pa.array([index], pa.int32()), pa.array([json.dumps(vars(report))])]
        yield pa.RecordBatch.from_arrays(arrays, ["split", "report"])

    return write


def _write_split(
    split: SinkSplit,
    writer: SplitWriter,
    report: SinkReport,
    batches: Iterator[pa.RecordBatch],
    progress: ProgressSender,
) -> None:
    try:
        writer.open(split)
        for batch in batches:
            good = _up_to_first_error(batch, report, split)
            if good.num_rows:
                writer.write(good)
                report.written += good.num_rows
                progress.send(report.written)
                failpoint("mid-write")
            if good.num_rows < batch.num_rows:
                break
        report.result = writer.close(report.end)
        report.end = min(report.end, report.result.get("safe", report.end))
    except BaseException:
        writer.abort()
        raise
    progress.send(report.written, done=True)


def _up_to_first_error(batch: pa.RecordBatch, report: SinkReport, split: SinkSplit) -> pa.RecordBatch:
    """The rows before the first that ends the split; the report says why it ended."""
    errors = batch.column("error")
    if errors.null_count == batch.num_rows:
        return batch
    first = pc.index(pc.is_valid(errors), True).as_py()
    offset = batch.column("kafka_offset")[first].as_py()
    sample = unknown_sample(errors[first].as_py())
    if sample is None:
        error = error_from_column(errors[first].as_py(), f"{split.topic_partition}@{offset}")
        if offset is None:
            raise error
        report.error = pack_error(error)
    else:
        report.unknown = _samples(errors.slice(first))
    report.end = offset
    return batch.slice(0, first)


def _samples(errors: pa.Array) -> list[tuple[str, str]]:
    found = (unknown_sample(cell) for cell in pc.unique(errors).to_pylist() if cell is not None)
    known: Sequence[tuple[str, bytes]] = [sample for sample in found if sample is not None]
    return [(part, base64.b64encode(data).decode()) for part, data in known[:_SAMPLES_MAX]]


def samples_of(report: SinkReport) -> list[tuple[str, bytes]]:
    """The unknown records' (part, bytes)."""
    return [(part, base64.b64decode(text)) for part, text in report.unknown]
