"""The writing end of the directory sink: one split's rows into hidden files of at most `flush.size` records."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.directory.json_text import quoted
from airflow_kconnect.connectors.directory.layout import FolderLayout
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.places.base import Output, StagedFile, Staging
from airflow_kconnect.places.streams import OutputStream

_OFFSET = ("kafka_offset", "kafka_offset")
_ROW_GROUP_BYTES = 64 * 1024 * 1024


class Encoder(Protocol):
    """Writes rows in a format; leaves the file open."""

    def write(self, rows: pa.RecordBatch) -> None: ...

    def finish(self) -> None: ...


class JsonEncoder:
    """The column ``line`` already has the text, or ``string`` is quoted.

    The same rows give the same bytes, even compressed.
    """

    def __init__(self, file: Output, compression: str) -> None:
        self._zip = gzip.GzipFile("", "wb", 6, OutputStream(file), mtime=0) if compression == "gzip" else None
        self._out: Output = self._zip or file

    def write(self, rows: pa.RecordBatch) -> None:
        is_text = rows.schema.names[0] == "line"
        self._out.write(text_buffer(rows.column("line") if is_text else quoted(rows.column("string"))))

    def finish(self) -> None:
        if self._zip:
            self._zip.close()


class ParquetEncoder:
    """The members of the column ``row`` become columns; batches are collected into large row groups."""

    def __init__(self, file: Output, compression: str) -> None:
        self._file, self._compression = OutputStream(file), compression
        self._writer: pq.ParquetWriter | None = None
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._batches.append(pa.RecordBatch.from_struct_array(rows.column("row")))
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


_ENCODERS: dict[str, type[JsonEncoder] | type[ParquetEncoder]] = {"json": JsonEncoder, "parquet": ParquetEncoder}


class DirectoryWriter(SplitWriter):
    """Names files by their first record, so that the splits of a partition need not know about each other.

    :param format: key of the encoder.
    :param flush_size: records per file, counted from the start of the split.
    :param columns: which column has the rows of a topic, if there are several.
    """

    def __init__(
        self,
        layout: FolderLayout,
        *,
        format: str,
        compression: str,
        flush_size: int,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._layout = layout
        self._columns = dict(columns or {})
        self._format = format
        self._compression = compression
        self._flush_size = flush_size

    def open(self, split: SinkSplit) -> None:
        self._split = split
        self._files: list[dict[str, Any]] = []
        self._staging: Staging | None = None
        self._records = 0
        self._left_out: set[int] = set()

    def write(self, batch: pa.RecordBatch) -> None:
        if "left_out" in batch.schema.names:
            self._left_out.update(pc.unique(batch.column("left_out").drop_null()).to_pylist())
        if column := self._columns.get(self._split.topic):
            batch = pa.record_batch({name: batch.column(own) for name, own in (("row", column), _OFFSET)})
        while batch.num_rows:
            if self._staging is None:
                self._begin(batch.column("kafka_offset")[0].as_py())
            rows = batch.slice(0, self._flush_size - self._records)
            self._encoder.write(rows)
            self._records += rows.num_rows
            if self._records == self._flush_size:
                self._finish()
            batch = batch.slice(rows.num_rows)

    def close(self, end: int) -> dict[str, Any]:
        if self._staging:
            self._finish()
        facts = {"end": end, "files": self._files}
        return facts | ({"left_out": sorted(self._left_out)} if self._left_out else {})

    def abort(self) -> None:
        # Errors while cleaning up must not hide the first error: the next run cleans up as well.
        if self._staging:
            self._staging.abort()
        for file in self._files:
            with contextlib.suppress(ConnectError):
                self._layout.place.discard(StagedFile.from_json(file))

    def _begin(self, offset: int) -> None:
        self._staging = self._layout.place.stage(self._layout.file(self._split.topic_partition, offset))
        self._encoder: Encoder = _ENCODERS[self._format](self._staging, self._compression)
        self._records = 0

    def _finish(self) -> None:
        assert self._staging is not None
        self._encoder.finish()
        self._files.append({**self._staging.finish().to_json(), "records": self._records})
        self._staging = None
