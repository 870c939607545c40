"""The open files of a task: bounded in number, and in what they keep in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from airflow_kconnect.connectors.cloud_storage.columns import PARTS
from airflow_kconnect.connectors.cloud_storage.encoders import ENOUGH, ENOUGH_TEXT, Encoder, encoder
from airflow_kconnect.connectors.cloud_storage.keys.settings import FileKind
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.connectors.cloud_storage.rules.rotation import Bounds, Filling
from airflow_kconnect.places.base import Place, StagedFile, Staging
from airflow_kconnect.places.ending import remove_soon

_THREADS = 8
_PER_COLUMN = 512
"""Bytes that an array takes besides its values."""


@dataclass(frozen=True)
class Limits:
    """Of a task.

    :param files: open at once. :param buffer_bytes: of rows that they keep. :param part_bytes: sent at once.
    """

    files: int
    buffer_bytes: int
    part_bytes: int


class OpenFile:
    """The files of the parts of some records: they begin and end together.

    :param names: of what is stored.
    """

    def __init__(
        self, place: Place, names: Mapping[Part, str], kinds: Mapping[Part, FileKind], part_bytes: int
    ) -> None:
        self._place, self._names, self._kinds, self._part_bytes = place, names, kinds, part_bytes
        self._stagings: dict[Part, tuple[Staging, Encoder]] = {}
        self._staged: list[StagedFile] = []
        self._rows: list[pa.RecordBatch] = []
        self.filling = Filling()
        self.bytes = 0
        texts = [kinds[part].format for part in names]
        self._enough = max(ENOUGH.get(format_, ENOUGH_TEXT) for format_ in texts)

    def add(self, rows: pa.RecordBatch, base_ms: int | None) -> int:
        """Take rows; returns by how many bytes it keeps more, or less, than before."""
        before = self.bytes
        self._rows.append(rows)
        self.bytes += rows.nbytes + rows.num_columns * _PER_COLUMN
        self.filling.records += rows.num_rows
        if self.filling.base_ms is None:
            self.filling.base_ms = base_ms
        if self.bytes >= self._enough:
            self.flush()
        return self.bytes - before

    def flush(self) -> None:
        """Write what it keeps."""
        table = pa.Table.from_batches(self._rows).combine_chunks()
        self._rows, self.bytes = [], 0
        for part in self._names:
            _, writer = self._staging(part)
            for chunk in table.column(PARTS[part]).chunks:
                writer.write(chunk)

    def finish(self) -> None:
        """Complete the files."""
        if self._rows:
            self.flush()
        for part in self._names:
            staging, writer = self._staging(part)
            writer.finish()
            self._staged.append(staging.finish())
            del self._stagings[part]

    @property
    def facts(self) -> dict[str, Any]:
        """JSON data for the commit, once it is complete."""
        return {"records": self.filling.records, "staged": [each.to_json() for each in self._staged]}

    def removals(self) -> Iterator[Callable[[], object]]:
        """What removes what was written."""
        yield from (staging.abort for staging, _ in self._stagings.values())
        yield from (partial(self._place.discard, each) for each in self._staged)

    def _staging(self, part: Part) -> tuple[Staging, Encoder]:
        if (found := self._stagings.get(part)) is None:
            staging = self._place.stage(self._names[part], self._part_bytes)
            found = self._stagings[part] = staging, encoder(staging, self._kinds[part])
        return found


class OpenFiles:
    """Files by folder, the least recently used first.

    :param names: what a file's parts are named, by folder and offset of the first record.
    """

    def __init__(
        self,
        place: Place,
        names: Callable[[str, int], Mapping[Part, str]],
        kinds: Mapping[Part, FileKind],
        bounds: Bounds,
        limits: Limits,
    ) -> None:
        self._place, self._names, self._kinds, self._bounds, self._limits = place, names, kinds, bounds, limits
        self._open: dict[str, OpenFile] = {}
        self._bytes = 0
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-files")
        self._ending: deque[tuple[Future[None], OpenFile, int]] = deque()
        self._done: list[OpenFile] = []

    def write(self, folder: str, rows: pa.RecordBatch, offsets: pa.Array, moments_ms: np.ndarray | None) -> None:
        """Add the next rows of a folder; files that are full end.

        :param rows: the columns of the parts.
        """
        start, end = 0, rows.num_rows
        while start < end:
            if (file := self._open.pop(folder, None)) is None:
                names = self._names(folder, offsets[start].as_py())
                file = OpenFile(self._place, names, self._kinds, self._limits.part_bytes)
            self._open[folder] = file
            until = self._bounds.taken(file.filling, moments_ms, start, end)
            if until > start:
                base_ms = None if moments_ms is None else int(moments_ms[start])
                self._bytes += file.add(rows.slice(start, until - start), base_ms)
            if until < end or self._bounds.is_full(file.filling):
                self._end(folder)
            start = until
        self._keep_limits()

    def finish(self) -> list[dict[str, Any]]:
        """End all files; returns JSON data of all that there were."""
        while self._open:
            self._end(next(iter(self._open)))
        while self._ending:
            self._await_one()
        self._pool.shutdown()
        return [file.facts for file in self._done]

    def abort(self) -> None:
        """Remove what was written. Raises nothing: the next run cleans up as well."""
        for future, *_ in self._ending:
            future.cancel()
        self._pool.shutdown()
        files = (*self._open.values(), *(file for _, file, _ in self._ending), *self._done)
        remove_soon(removal for file in files for removal in file.removals())

    def _keep_limits(self) -> None:
        while len(self._open) > self._limits.files:
            self._end(next(iter(self._open)))
        while self._bytes > self._limits.buffer_bytes:
            largest = max(self._open.values(), key=lambda file: file.bytes)
            self._bytes -= largest.bytes
            largest.flush()

    def _end(self, folder: str) -> None:
        """Let a thread complete a file: that takes a store some round trips. What waits for it is limited, too."""
        waiting = sum(size for *_, size in self._ending)
        while self._ending and (len(self._ending) >= 2 * _THREADS or waiting > self._limits.buffer_bytes // 4):
            waiting -= self._await_one()
        file = self._open.pop(folder)
        self._bytes -= file.bytes
        self._ending.append((self._pool.submit(file.finish), file, file.bytes))

    def _await_one(self) -> int:
        future, file, size = self._ending[0]
        future.result()
        self._done.append(file)
        self._ending.popleft()
        return size
