"""The writing end of the file sink: one split's lines into a hidden file, its segment."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.places.folders import HIDDEN_SUFFIX, hidden_name, named_errors

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = r"\.kconnect-(?P<key>[0-9a-f]{16})" + HIDDEN_SUFFIX


@dataclass(frozen=True)
class Segments:
    """Which segments in a folder belong to a sink; others may keep theirs in the same folder.

    :param folder: absolute: executors need not have the driver's working folder.
    :param sink: what distinguishes the sink from all others: its name and its target.
    """

    folder: Path
    sink: tuple[str, ...]

    def new(self, partition: TopicPartition) -> Path:
        """A unique name for a segment."""
        return self.folder / hidden_name(f"kconnect-{self._key(partition)}")

    def of(self, partitions: Iterable[TopicPartition]) -> Iterator[Path]:
        """The sink's segments for these partitions."""
        keys = set(map(self._key, partitions))
        for path in self.folder.iterdir():
            if (match := re.fullmatch(_NAME, path.name, re.ASCII)) and match["key"] in keys:
                yield path

    def _key(self, partition: TopicPartition) -> str:
        identity = json.dumps([*self.sink, partition.topic, partition.partition])
        return hashlib.sha256(identity.encode()).hexdigest()[:16]


class SegmentWriter(SplitWriter):
    """Writes a segment; the driver appends it to the target once all segments of the round exist."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments

    def open(self, split: SinkSplit) -> None:
        self._path = self._segments.new(split.topic_partition)
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
        # Errors while cleaning up must not hide the first error, also of `open`: the next run cleans up as well.
        with contextlib.suppress(OSError, AttributeError):
            self._file.close()
        with contextlib.suppress(OSError, AttributeError):
            self._path.unlink(missing_ok=True)
