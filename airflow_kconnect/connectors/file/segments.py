"""The writing end of the file sink: one split's lines into a hidden file beside the target."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.connector import SinkSplit, SplitWriter
from airflow_kconnect.connectors.file.output import hidden_name, named_errors, text_buffer


class SegmentWriter(SplitWriter):
    """Writes a segment; the driver appends it to the target when all segments of the round are there.

    :param stem: path of the target; segments are named after it.
    """

    def __init__(self, stem: Path) -> None:
        self._stem = stem

    def open(self, split: SinkSplit) -> None:
        name = f"{self._stem.name}.{split.topic}+{split.partition}+{split.start}"
        self._path = self._stem.with_name(hidden_name(name))
        self._records = 0
        with named_errors(self._path):
            self._file = self._path.open("xb")

    def write(self, batch: pa.RecordBatch) -> None:
        with named_errors(self._path):
            self._file.write(text_buffer(batch.column("line")))
        self._records += batch.num_rows

    def close(self, end: int) -> dict[str, Any]:
        with named_errors(self._path):
            self._file.close()
        return {"segment": str(self._path), "records": self._records}

    def abort(self) -> None:
        # A first error must not be hidden by those of cleaning up: the next run cleans up as well.
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
