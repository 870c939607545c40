"""What the driver finds out about a file before it is read: its columns, and where it can be cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connectors.record_files.config import FileSettings
from airflow_kconnect.connectors.record_files.formats.base import Columns
from airflow_kconnect.connectors.record_files.formats.registry import opened
from airflow_kconnect.connectors.record_files.opening import Source
from airflow_kconnect.connectors.record_files.reading import unreadable
from airflow_kconnect.connectors.record_files.types import Description, columns_in


class KnownTypes:
    """Types by the names of columns: those of the configuration, else those that earlier files were read with. So a
    column has one type, whatever the sample of a file suggests.

    :param facts: of files that were read, as far as these had columns that no facts had when they were planned: of all
        files of the first plan, and of few others.
    """

    def __init__(self, settings: FileSettings, facts: Mapping[str, Mapping[str, Any]]) -> None:
        self.types: dict[str, Description] = dict(settings.types)
        kept = columns_in(facts[identity] for identity in sorted(facts))
        self.learn(kept)
        self._kept = frozenset(kept)

    def are_kept(self, columns: Columns) -> bool:
        """Whether the facts have all of these columns, so that they need not be kept again."""
        return self._kept.issuperset(columns)

    def learn(self, columns: Mapping[str, Description]) -> None:
        """Types of a file, as far as they are new."""
        for name, description in columns.items():
            self.types.setdefault(name, description)


def planned(source: Source, begin: int, known: KnownTypes) -> tuple[Columns | None, list[int]]:
    """The columns of a file, and its cuts.

    :raises UnreadableFile: the file is not what it should be.
    """
    with unreadable(source):
        format_ = opened(source)
        columns = format_.columns(known.types)
        if columns == {}:
            return None, [begin, begin]
        format_.schema(columns)
        known.learn(columns or {})
        return columns, format_.cuts(begin)
