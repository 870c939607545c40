"""A file split as rows of the record frame; runs in a Spark partition."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from airflow_kconnect.connect.error_cells import error_cell
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.file.lines import read_lines
from airflow_kconnect.connectors.file.opening import Input


def read_split(path: Input, start: int, end: int, max_line_bytes: int) -> Iterator[pa.RecordBatch]:
    """(progress, value, error) rows of a byte range; a failure to read becomes the last row's error."""
    try:
        for lines in read_lines(path, start, end, max_line_bytes=max_line_bytes):
            yield _rows(lines.column("progress"), lines.column("value"), pa.nulls(lines.num_rows, pa.string()))
    except ConnectError as error:
        yield _failed(start, error)


def _failed(start: int, error: ConnectError) -> pa.RecordBatch:
    return _rows(pa.array([start]), pa.nulls(1, pa.string()), pa.array([error_cell(error)]))


def _rows(progress: pa.Array, value: pa.Array, error: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([progress, value, error], ["progress", "value", "error"])
