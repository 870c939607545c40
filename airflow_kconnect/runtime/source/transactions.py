"""Transactions whose ends a source task defines, for ``transaction.boundary=connector``.

Records wait here until the task says what happens to them. Then they go to the writer, perhaps in several batches: only
the last record of a transaction has an offset, which is that of all source partitions. A transaction ends nowhere else,
see `TransactionTracking`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_kconnect.connect.connector.task import TransactionContext
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.java_text.json import partition_identity


@dataclass(frozen=True)
class AbortedRecord(SourceRecord):
    """Only its offset is committed."""


class Transactions:
    """The open transaction of a task."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._open: list[SourceRecord] = []

    @property
    def is_open(self) -> bool:
        """Whether records wait for their end."""
        return bool(self._open)

    def ended(self, polled: Sequence[SourceRecord]) -> Iterator[tuple[list[SourceRecord], list[SourceRecord]]]:
        """The transactions that end with these records, or with some of them: as they were polled, and for the writer.

        :raises DataError: two ends in one place.
        """
        for record in polled:
            self._open.append(record)
            commits = self._context.taken(record)
            if commits is not None:
                yield self._end(commits=commits)
        commits = self._context.taken()
        if commits is not None and self._open:
            yield self._end(commits=commits)

    def _end(self, *, commits: bool) -> tuple[list[SourceRecord], list[SourceRecord]]:
        records, self._open = self._open, []
        return records, as_one(records if commits else [_aborted(record) for record in records])


def _aborted(record: SourceRecord) -> AbortedRecord:
    return AbortedRecord(record.source_partition, record.source_offset, record.topic, None)


def as_one(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """A transaction as the writer needs it: the offset of the last record is the last one of each source partition, by
    its JSON.
    """
    last: dict[str, tuple[str, Any]] = {}
    for record in records:
        if record.source_partition is not None and record.source_offset is not None:
            text = json.dumps(dict(record.source_partition), allow_nan=False)
            last[partition_identity(record.source_partition)] = text, dict(record.source_offset)
    *others, end = records
    return [
        *(replace(record, source_offset=None) for record in others),
        replace(end, source_offset=dict(last.values())),
    ]
