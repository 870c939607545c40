"""Parquet files: the members of structs are columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from airflow_kconnect.places.base import Output
from airflow_kconnect.places.streams import OutputStream

_ROW_GROUP_BYTES = 64 * 1024 * 1024


class ParquetEncoder:
    """Rows are collected into large row groups."""

    def __init__(self, file: Output, compression: str) -> None:
        self._file, self._compression = OutputStream(file), compression
        self._writer: pq.ParquetWriter | None = None
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, rows: pa.Array) -> None:
        self._batches.append(pa.RecordBatch.from_struct_array(rows))
        self._bytes += self._batches[-1].nbytes
        if self._bytes >= _ROW_GROUP_BYTES:
            self._write_row_group()

    def finish(self) -> None:
        if self._batches:
            self._write_row_group()
        if self._writer:
            self._writer.close()

    def _write_row_group(self) -> None:
        table = pa.Table.from_batches(self._batches)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema, compression=self._compression)
        self._writer.write_table(table, row_group_size=table.num_rows)
        self._batches, self._bytes = [], 0
