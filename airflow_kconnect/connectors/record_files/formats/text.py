"""Text: a line is a record."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from airflow_kconnect.connect.data import STRING_SCHEMA, ConnectSchema
from airflow_kconnect.connectors.record_files.formats.base import Columns, RecordFormat, Rows
from airflow_kconnect.connectors.record_files.formats.lines import lines_of
from airflow_kconnect.connectors.record_files.values import parsed


class TextFormat(RecordFormat):
    """Its positions are bytes."""

    def schema(self, columns: Columns | None) -> ConnectSchema:
        return STRING_SCHEMA

    def cuts(self, begin: int) -> list[int]:
        return self.source.line_starts(begin)

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        for lines in lines_of(self.source, begin, end):
            yield Rows(*parsed(lines, pa.string(), "line"))
