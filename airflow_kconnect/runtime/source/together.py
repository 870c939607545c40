"""Records of a Python source that belong to those that follow, see `PollSourceConnector.commits_at_offsets`."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.java_text.json import partition_identity


def note(opened: set[str], partition: str | None, offset: object) -> None:
    """A record of a source partition has come.

    :param opened: the source partitions whose last record has no offset.
    """
    if partition and offset:
        opened.discard(partition)
    elif partition:
        opened.add(partition)


class Together:
    """Where a task may be stopped by a bound.

    :param at_offsets: whether only after records with an offset; else anywhere.
    """

    def __init__(self, at_offsets: bool) -> None:
        self._at_offsets = at_offsets
        self._opened: set[str] = set()

    @property
    def open(self) -> bool:
        """Whether the records that were taken last belong to others that have not come."""
        return bool(self._opened)

    def taken(self, records: Sequence[SourceRecord], most: int | None) -> list[SourceRecord]:
        """The first of some records, as many as a bound allows, and those that the last of them belong to.

        :param most: how many; 0 if only what belongs to earlier ones is left to take; None: all.
        """
        if not self._at_offsets:
            return list(records[:most])
        for n, record in enumerate(records):
            if most is not None and n >= most and not self._opened:
                return list(records[:n])
            partition = record.source_partition
            note(self._opened, None if partition is None else partition_identity(partition), record.source_offset)
        return list(records)
