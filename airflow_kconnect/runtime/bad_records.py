"""What happens to records that fail: ``errors.*`` (KIP-298), in the tasks. See docs/architecture.md for when.

Differences from Connect: sources have dead letters too, in the transaction of the good records; a dead letter that
cannot be written fails the run, Connect only logs that.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.error_cells import (
    DROPPED,
    RECORD_ERROR,
    RecordError,
    error_from_column,
    record_error,
)
from airflow_kconnect.connect.errors import ConnectError

if TYPE_CHECKING:
    from pyspark.sql import Column

log = logging.getLogger("kconnect.errors")

KafkaHeaders = list[tuple[str, bytes | None]]

CONTEXT_PREFIX = "__connect.errors."


@dataclass(frozen=True)
class ErrorHandling:
    """The ``errors.*`` keys of a connector; pickled into the tasks.

    :param tolerant: ``errors.tolerance`` is ``all``.
    :param log: ``errors.log.enable``. :param messages: ``errors.log.include.messages``.
    :param topic: the dead-letter topic, or None.
    :param context_headers: ``errors.deadletterqueue.context.headers.enable``.
    """

    connector: str
    tolerant: bool = False
    log: bool = False
    messages: bool = False
    topic: str | None = None
    context_headers: bool = False

    @classmethod
    def from_common(cls, connector: str, common: Mapping[str, Any]) -> ErrorHandling:
        """From the typed values of a validated configuration."""
        dead_letters = "errors.deadletterqueue"
        return cls(
            connector=connector,
            tolerant=str(common["errors.tolerance"]).lower() == "all",
            log=bool(common["errors.log.enable"]),
            messages=bool(common["errors.log.include.messages"]),
            topic=common.get(f"{dead_letters}.topic.name") or None,
            context_headers=bool(common.get(f"{dead_letters}.context.headers.enable")),
        )

    @property
    def reports(self) -> bool:
        """Whether failed records are reported anywhere (``errantRecordReporter`` is not null then)."""
        return self.log or self.topic is not None


@dataclass(frozen=True)
class FailedRecord:
    """A record as it was before processing, and where it comes from.

    :param topic: where it was read from; for a source record, where it was to be written.
    :param partition: Kafka's, or the source partition as JSON. :param offset: Kafka's, or the source offset.
    """

    topic: str | None
    partition: int | str
    offset: int | str | None
    key: bytes | None = None
    value: bytes | None = None
    headers: KafkaHeaders | None = None
    timestamp: int | None = None


class ErrorReporter:
    """Logs failed records and writes their dead letters, as far as the configuration asks for it.

    :param task: index of the task or split.
    :param produce: `Producer.produce`; needed only with a dead-letter topic.
    """

    def __init__(self, handling: ErrorHandling, task: int, produce: Any = None) -> None:
        self._handling, self._task, self._produce = handling, task, produce

    def report(self, record: FailedRecord, error: RecordError) -> None:
        """Report a record (``ProcessingContext.report``)."""
        if self._handling.log:
            log.error("%s", log_line(self._handling, self._task, record, error))
        if self._handling.topic is not None:
            # Headers of this kind that a record already has are removed: a replay relies on them.
            headers = [header for header in record.headers or [] if not header[0].startswith(CONTEXT_PREFIX)]
            if self._handling.context_headers:
                headers += context_headers(self._handling.connector, self._task, record, error)
            when = record.timestamp or 0
            self._produce(self._handling.topic, record.value, record.key, -1, None, None, when, headers or None)


def context_headers(connector: str, task: int, record: FailedRecord, error: RecordError) -> KafkaHeaders:
    """Connect's ten headers, in its order (``DeadLetterQueueReporter.populateContextHeaders``).

    There is no Java stack trace: the last header has the class and the message.
    """
    headers = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "connector.name": connector,
        "task.id": task,
        "stage": error.stage,
        "class.name": error.executing,
        "exception.class.name": error.exception,
        "exception.message": error.message,
        "exception.stacktrace": f"{error.exception}: {error.message}",
    }
    return [(CONTEXT_PREFIX + name, None if value is None else str(value).encode()) for name, value in headers.items()]


def log_line(handling: ErrorHandling, task: int, record: FailedRecord, error: RecordError) -> str:
    """The line of ``LogReporter``; with messages it identifies the record. Key and value are not logged: they may be
    secret.

    The error text may quote a value: see `RecordError.quoted`.
    """
    executing = f"Executing stage '{error.stage}' with class '{error.executing}'"
    where = ""
    if handling.messages:
        facts = f"topic='{record.topic}', partition={record.partition}, offset={record.offset}"
        where = f", where consumed record is {{{facts}, timestamp={record.timestamp}, timestampType=CreateTime}}"
    text = f"Error encountered in task {handling.connector}-{task}. {executing}{where}."
    return f"{text} {error.exception}: {error.quoted}"


@dataclass
class Triage:
    """A batch without the rows that must not be written.

    :param stopped: index of the row that ends the split, or None.
    """

    good: pa.RecordBatch
    filtered: int
    failed: list[tuple[int, RecordError]]
    stopped: int | None

    @property
    def passed_over(self) -> int:
        """How many failed records were skipped; the one that ends the split does not count."""
        return sum(row != self.stopped for row, _ in self.failed)


def triage(batch: pa.RecordBatch, tolerant: bool) -> Triage:
    """Separate good rows from dropped and failed ones; the first row that must not be skipped ends the batch."""
    if "error" not in batch.schema.names or batch.column("error").null_count == batch.num_rows:
        return Triage(batch, 0, [], None)
    errors = batch.column("error")
    failed: list[tuple[int, RecordError]] = []
    stopped: int | None = None
    others = pc.and_kleene(pc.is_valid(errors), pc.not_equal(errors, DROPPED))
    for row in pc.indices_nonzero(pc.fill_null(others, False)).to_pylist():
        error = record_error(errors[row].as_py())
        if error is not None:
            failed.append((row, error))
        if error is None or not tolerant:
            stopped = row
            break
    within = batch if stopped is None else batch.slice(0, stopped)
    own = within.column("error")
    dropped = pc.sum(pc.fill_null(pc.equal(own, DROPPED), False)).as_py() or 0
    return Triage(within.filter(pc.is_null(own)), dropped, failed, stopped)


def is_record_error(error: Column) -> Column:
    """Whether the cells of an ``error`` column are of bad records, which may be skipped; null where there is none."""
    return error.startswith(RECORD_ERROR)


def error_at(batch: pa.RecordBatch, row: int, record_position: str) -> ConnectError:
    """The error that ends a run at a row."""
    return error_from_column(batch.column("error")[row].as_py(), record_position)


def original_of(batch: pa.RecordBatch, row: int) -> dict[str, Any]:
    """The cell of the column ``original``: key, value, and possibly headers and timestamp."""
    if "original" not in batch.schema.names:
        return {}
    cell: dict[str, Any] = batch.column("original")[row].as_py() or {}
    headers = cell.pop("headers", None)
    return cell | {"headers": [(h["key"], h["value"]) for h in headers] if headers else None}
