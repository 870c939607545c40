"""What writes the rows of a file; between calls an encoder holds next to nothing."""

from __future__ import annotations

import gzip
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from airflow_kconnect.connectors.cloud_storage.keys.classes import Format
from airflow_kconnect.connectors.cloud_storage.keys.settings import FileKind
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.places.base import Output
from airflow_kconnect.places.streams import OutputStream

_MEGABYTE = 1024 * 1024
ENOUGH = {Format.PARQUET: 64 * _MEGABYTE, Format.AVRO: 8 * _MEGABYTE}
"""How many bytes of rows are worth being written; of texts `ENOUGH_TEXT`."""
ENOUGH_TEXT = 4 * _MEGABYTE


class Encoder(Protocol):
    """Leaves the file open."""

    def write(self, rows: pa.Array) -> None:
        """Write some rows: texts with their ends of lines, or structs."""

    def finish(self) -> None:
        """There are no more rows."""


class Texts:
    """Texts as they are, or each call's as a member of a gzip file, so that no compressor stays open."""

    def __init__(self, file: Output, kind: FileKind) -> None:
        self._file, self._level = file, kind.level if kind.codec == "gzip" else None

    def write(self, rows: pa.Array) -> None:
        data = text_buffer(rows)
        self._file.write(data if self._level is None else gzip.compress(data, self._level, mtime=0))

    def finish(self) -> None:
        """Everything is written."""


class ParquetRows:
    """Each call's rows are a row group."""

    def __init__(self, file: Output, kind: FileKind) -> None:
        self._file, self._codec = OutputStream(file), kind.codec
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: pa.Array) -> None:
        table = pa.Table.from_batches([pa.RecordBatch.from_struct_array(rows)])
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema, compression=self._codec)
        self._writer.write_table(table, row_group_size=table.num_rows)

    def finish(self) -> None:
        if self._writer:
            self._writer.close()


def encoder(file: Output, kind: FileKind) -> Encoder:
    """The one for a kind of files."""
    if kind.format is Format.PARQUET:
        return ParquetRows(file, kind)
    if kind.format is Format.AVRO:
        from airflow_kconnect.connectors.cloud_storage.avro_files import AvroRows

        assert kind.schema is not None
        return AvroRows(file, kind.schema, kind.codec)
    return Texts(file, kind)
