"""What the driver finds out about a file before it is read: its columns, and where it can be cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connectors.record_files.config import FileSettings
from airflow_kconnect.connectors.record_files.formats.base import Columns
from airflow_kconnect.connectors.record_files.formats.registry import opened
from airflow_kconnect.connectors.record_files.opening import Source
from airflow_kconnect.connectors.record_files.reading import unreadable
from airflow_kconnect.connectors.record_files.types import Description


class KnownTypes:
    """Types by the names of columns: those of the configuration, else those that earlier files were read with. So a
    column has one type, whatever the sample of a file suggests.

    :param facts: of all files that were read.
    """

    def __init__(self, settings: FileSettings, facts: Mapping[str, Mapping[str, Any]]) -> None:
        self._given: dict[str, Description] = dict(settings.types)
        self.types = dict(self._given)
        seen = ((identity, json.loads(each["columns"])) for identity, each in facts.items() if each.get("columns"))
        # The same order of members in each run: that of the file with most of them.
        for _, columns in sorted(seen, key=lambda item: (-len(item[1]), item[0])):
            self.learn(columns)

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
