"""The writing end of the directory sink: one split's rows into hidden files of at most `flush.size` records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connectors.directory.encoders.formats import Encoder, encoder
from airflow_kconnect.connectors.directory.json_text import quoted
from airflow_kconnect.connectors.directory.layout import FolderLayout
from airflow_kconnect.places.base import Staging
from airflow_kconnect.places.ending import EndingFiles

_OFFSET = ("kafka_offset", "kafka_offset")


class DirectoryWriter(SplitWriter):
    """Names files by their first record, so that the splits of a partition need not know about each other.

    :param format: key of the encoder.
    :param compression: one that the format has.
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
        self._ending = EndingFiles()
        self._counts: list[int] = []
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
            self._encoder.write(encodable(rows))
            self._records += rows.num_rows
            if self._records == self._flush_size:
                self._finish()
            batch = batch.slice(rows.num_rows)

    def close(self, end: int) -> dict[str, Any]:
        if self._staging:
            self._finish()
        files = zip(self._ending.staged(), self._counts, strict=True)
        facts = {"end": end, "files": [{**staged.to_json(), "records": records} for staged, records in files]}
        return facts | ({"left_out": sorted(self._left_out)} if self._left_out else {})

    def abort(self) -> None:
        if self._staging:
            self._staging.abort()
        self._ending.abort(self._layout.place)

    def _begin(self, offset: int) -> None:
        self._staging = self._layout.place.stage(self._layout.file(self._split.topic_partition, offset))
        self._encoder: Encoder = encoder(self._format, self._compression, self._staging)
        self._records = 0

    def _finish(self) -> None:
        assert self._staging is not None
        self._encoder.finish()
        self._ending.add(self._staging)
        self._staging = None
        self._counts.append(self._records)


def encodable(rows: pa.RecordBatch) -> pa.Array:
    """The first column. One that is named ``string`` becomes lines of JSON, a whole batch at once."""
    column = rows.column(0)
    return quoted(column) if rows.schema.names[0] == "string" else column
