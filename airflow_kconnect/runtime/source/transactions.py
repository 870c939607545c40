"""Transactions whose ends a source task defines, for ``transaction.boundary=connector``.

Records wait here until the task says what happens to them. They reach the writer as a whole transaction, in which only
the last record of each source partition has an offset. A transaction ends nowhere else, see `OffsetTracking`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_kconnect.connect.connector.task import TransactionContext
from airflow_kconnect.connect.java.json import partition_identity
from airflow_kconnect.connect.record import SourceRecord


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
    """A transaction as the writer needs it. Where records without any offset are from does not matter to it."""
    identities = [None if r.source_partition is None else partition_identity(r.source_partition) for r in records]
    last = {identity: n for n, identity in enumerate(identities)}
    offsets: dict[str | None, Mapping[str, Any]] = {
        identity: record.source_offset
        for identity, record in zip(identities, records, strict=True)
        if record.source_offset is not None
    }
    return [
        replace(
            record,
            source_partition=record.source_partition if identity in offsets else None,
            source_offset=offsets.get(identity) if last[identity] == n else None,
        )
        for n, (identity, record) in enumerate(zip(identities, records, strict=True))
    ]
