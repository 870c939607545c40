"""Polls a task of a source for its good records; errors of the task and of records are raised."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.error_cells import END
from airflow_kconnect.runtime.bad_records import ErrorHandling, ErrorReporter, FailedRecord, error_at, triage
from airflow_kconnect.runtime.source.poll import PollSettings, new_shapes, polled

log = logging.getLogger("kconnect.source")


class ShapesFound(Exception):
    """The next records have more than the schema that the task was told of. :param facts: what they have."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__("new shapes")
        self.facts = facts


@dataclass(frozen=True)
class TaskPoller:
    """Polls tasks in the process that needs their records; pickled."""

    settings: PollSettings = field(repr=False)
    errors: ErrorHandling

    def batches(self, task: int) -> Iterator[pa.RecordBatch]:
        """The records of a task, as `polled` has them, until it has caught up or a bound is reached.

        :raises ShapesFound: there is more. :raises ConnectError: the task failed, or a record must not be skipped.
        """
        reporter, skipped = ErrorReporter(self.errors, task), 0
        with closing(polled(self.settings).read(task)) as polls:
            for batch in polls:
                if (bound := _bound(batch)) is not None:
                    if (facts := new_shapes(bound)) is not None:
                        raise ShapesFound(facts)
                    break
                sorted_out = triage(batch, self.errors.tolerant)
                for row, error in sorted_out.failed:
                    if row != sorted_out.stopped:
                        topic, partition, offset = _place(batch, row)
                        reporter.report(FailedRecord(topic, partition or "", offset), error)
                        skipped += 1
                if sorted_out.good.num_rows:
                    yield sorted_out.good
                if sorted_out.stopped is not None:
                    raise error_at(batch, sorted_out.stopped, position(batch, sorted_out.stopped))
        if skipped:
            log.warning("connector %s: task %s has skipped %s bad records", self.errors.connector, task, skipped)


def position(batch: pa.RecordBatch, row: int) -> str:
    """Where a record is, for errors."""
    topic, partition, offset = _place(batch, row)
    return f"source partition {partition} offset {offset}" if partition else f"topic {topic}, without an offset"


def _place(batch: pa.RecordBatch, row: int) -> tuple[str, str | None, str | None]:
    topic, partition, offset = (
        batch.column(name)[row].as_py() for name in ("topic", "source_partition", "source_offset")
    )
    return topic, partition, offset


def _bound(batch: pa.RecordBatch) -> str | None:
    """What has ended the polling, if that is what the batch says."""
    if batch.num_rows != 1:
        return None
    cell = batch.column("error")[0].as_py() or ""
    return cell.removeprefix(END) if cell.startswith(END) else None
