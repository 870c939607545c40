"""A file split as rows of the record frame; runs in a process that moves splits."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import pyarrow as pa

from airflow_kconnect.connect.error_cells import error_cell
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.file.lines import read_lines
from airflow_kconnect.connectors.file.opening import Input

Batches = Generator[pa.RecordBatch, None, None]
ROWS = pa.schema([("progress", pa.int64()), ("value", pa.string()), ("error", pa.string())])


@dataclass(frozen=True)
class RangeReader:
    """Reads byte ranges; pickled.

    :param ranges: file, first byte and end, by the split's index.
    """

    ranges: tuple[tuple[Input, int, int], ...]
    max_line_bytes: int

    def __call__(self, split: int) -> Batches:
        return read_split(*self.ranges[split], self.max_line_bytes)


def read_split(path: Input, start: int, end: int, max_line_bytes: int) -> Batches:
    """(progress, value, error) rows of a byte range; a failure to read becomes the last row's error."""
    try:
        for lines in read_lines(path, start, end, max_line_bytes=max_line_bytes):
            yield _rows(lines.column("progress"), lines.column("value"), pa.nulls(lines.num_rows, pa.string()))
    except ConnectError as error:
        yield _failed(start, error)


def _failed(start: int, error: ConnectError) -> pa.RecordBatch:
    return _rows(pa.array([start]), pa.nulls(1, pa.string()), pa.array([error_cell(error)]))


def _rows(progress: pa.Array, value: pa.Array, error: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([progress, value, error], schema=ROWS)
