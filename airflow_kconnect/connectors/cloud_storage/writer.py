"""The writing end: rows of a split go to the open file of their folder."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connectors.cloud_storage.columns import FOLDER, MOMENT, PARTS, TOMBSTONE
from airflow_kconnect.connectors.cloud_storage.keys.settings import Settings
from airflow_kconnect.connectors.cloud_storage.open_files import Limits, OpenFiles
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.connectors.cloud_storage.rules.partitions import ByKafka, ByTime
from airflow_kconnect.places.base import Place

_WINDOW = 4
"""Rows are spread over folders when they take a fourth of the buffer, so that a folder gets more than one at a time."""


class CloudStorageWriter(SplitWriter):
    """Files are named by their first record and by their folder."""

    durable_before_close = False

    def __init__(self, place: Place, settings: Settings) -> None:
        self._place, self._settings = place, settings

    def open(self, split: SinkSplit) -> None:
        self._split = split
        own = self._settings
        limits = Limits(_affordable(own.open_files, len(own.kinds)), own.buffer_bytes, own.part_bytes)
        self._files = OpenFiles(self._place, self._names, own.kinds, own.bounds, limits)
        self._window: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        wanted = [*(PARTS[part] for part in self._settings.kinds), FOLDER, MOMENT, TOMBSTONE, "kafka_offset"]
        rows = batch.select([name for name in wanted if name in batch.schema.names])
        self._window.append(rows)
        self._bytes += rows.nbytes
        if isinstance(self._settings.partitioning, ByKafka) or self._bytes * _WINDOW >= self._settings.buffer_bytes:
            self._spread()

    def close(self, end: int) -> dict[str, Any]:
        self._spread()
        return {"end": end, "files": self._files.finish()}

    def abort(self) -> None:
        self._files.abort()

    def _names(self, folder: str, offset: int) -> Mapping[Part, str]:
        own = self._settings
        parts = [part for part in own.kinds if part is not Part.VALUES or not self._is_tombstones(folder)]
        layout, partition = own.layout, self._split.topic_partition
        return {part: layout.file(partition, folder, offset, part, own.kinds[part].extension) for part in parts}

    def _is_tombstones(self, folder: str) -> bool:
        return self._settings.nulls == "write" and folder == self._settings.tombstones

    def _spread(self) -> None:
        """Write the window's rows."""
        window, self._window, self._bytes = self._window, [], 0
        if not window:
            return
        for rows in pa.Table.from_batches(window).combine_chunks().to_batches():
            for folder, own in self._by_folder(rows):
                moments = own.column(MOMENT).fill_null(0).to_numpy() if MOMENT in own.schema.names else None
                parts = own.select([PARTS[part] for part in self._settings.kinds])
                self._files.write(folder, parts, own.column("kafka_offset"), moments)

    def _by_folder(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of each folder, in their order. They are copies: what a file keeps does not keep the others."""
        folders, codes = self._folder_codes(rows)
        if len(folders) == 1:
            yield folders[0], rows
            return
        order = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes[order], np.arange(len(folders) + 1))
        for n, folder in enumerate(folders):
            if edges[n] < edges[n + 1]:
                yield folder, rows.take(pa.array(order[edges[n] : edges[n + 1]]))

    def _folder_codes(self, rows: pa.RecordBatch) -> tuple[list[str], np.ndarray]:
        """The folders, and the index of each row's."""
        match self._settings.partitioning:
            case ByKafka() as by_kafka:
                folders, codes = [by_kafka.folder(self._split.partition)], np.zeros(rows.num_rows, np.int64)
            case ByTime() as by_time:
                folders, codes = by_time.folders(rows.column(MOMENT).fill_null(0).to_numpy())
            case _:
                encoded = rows.column(FOLDER).dictionary_encode()
                folders = encoded.dictionary.to_pylist()
                codes = encoded.indices.fill_null(0).to_numpy().astype(np.int64)
        if TOMBSTONE in rows.schema.names:
            is_tombstone = rows.column(TOMBSTONE).to_numpy(zero_copy_only=False)
            codes = np.where(is_tombstone, len(folders), codes)
            folders = [*folders, self._settings.tombstones]
        return folders, codes


def _affordable(files: int, parts: int) -> int:
    """As many open files as that, or as this process may have: half of its handles, of which each part takes one."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return files if soft == resource.RLIM_INFINITY else max(1, min(files, soft // 2 // parts))
