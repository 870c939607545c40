"""Parts of files that wait to be sent: on disk, in one file of a process, however many are open.

A file of its own for each would need a descriptor each, and their first bytes much memory.
"""

from __future__ import annotations

import os
import tempfile
import threading
from abc import ABC, abstractmethod
from functools import cache
from typing import Any

from airflow_kconnect.places.streams import SeekableReader
from airflow_kconnect.places.system_errors import system_error

BLOCK_BYTES = 64 * 1024
"""What a part that is being filled has in memory, at most."""


class Spill:
    """Blocks in a file that has no name, so that nothing stays of a process that is killed."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._free: list[int] = []
        self._blocks = 0
        self._file: Any = None

    def put(self, block: memoryview) -> int:
        """Keep a block; returns its number."""
        with self._lock:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - as long as the process
            number = self._free.pop() if self._free else self._blocks
            self._blocks = max(self._blocks, number + 1)
        at = number * BLOCK_BYTES
        while block:
            written = os.pwrite(self._file.fileno(), block, at)
            block, at = block[written:], at + written
        return number

    def get(self, number: int, start: int, size: int) -> bytes:
        """Some bytes of a block."""
        return os.pread(self._file.fileno(), size, number * BLOCK_BYTES + start)

    def free(self, numbers: list[int]) -> None:
        """Forget blocks."""
        if os.getpid() != self._process:  # the file is that of the process that this one was forked off
            return
        with self._lock:
            self._free += numbers
            if self._file is not None and len(self._free) == self._blocks:
                self._file.truncate(0)
                self._free, self._blocks = [], 0


class Part(SeekableReader):
    """What is written to it can be read once all was written."""

    def __init__(self) -> None:
        self._spill = _spill(os.getpid())
        self._blocks: list[int] = []
        self._tail = bytearray()

    @property
    def size(self) -> int:
        """Bytes that were written so far."""
        return len(self._blocks) * BLOCK_BYTES + len(self._tail)

    def write(self, data: Any, /) -> int:
        """:raises ConnectError: the disk is full."""
        view = memoryview(data).cast("B")
        try:
            for start in range(0, len(view), BLOCK_BYTES):
                self._tail += view[start : start + BLOCK_BYTES]
                if len(self._tail) >= BLOCK_BYTES:
                    self._blocks.append(self._spill.put(memoryview(self._tail)[:BLOCK_BYTES]))
                    self._tail = self._tail[BLOCK_BYTES:]
        except OSError as error:
            raise system_error(f"cannot keep a file in {tempfile.gettempdir()} until it is sent", error) from error
        return len(view)

    def readinto(self, buffer: Any, /) -> int:
        number, start = divmod(self._at, BLOCK_BYTES)
        size = min(len(buffer), BLOCK_BYTES - start)
        if number < len(self._blocks):
            data = self._spill.get(self._blocks[number], start, size)
        else:
            data = bytes(self._tail[start : start + size]) if number == len(self._blocks) else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def take(self) -> bytes:
        """All that was written; nothing of it stays."""
        self.seek(0)
        data = self.read()
        self._forget()
        return data

    def close(self) -> None:
        if not self.closed:
            self._forget()
        super().close()

    def _forget(self) -> None:
        self._spill.free(self._blocks)
        self._blocks, self._tail = [], bytearray()


class PartStaging(ABC):
    """A `Staging` that is sent in parts. What is being filled is on disk, so memory is flat however many are open."""

    def __init__(self, part_bytes: int) -> None:
        self._part_bytes, self._part, self._size = part_bytes, Part(), 0

    def write(self, data: Any, /) -> int:
        """See `Staging`. :raises ConnectError: the disk is full, or the part cannot be sent."""
        written = self._part.write(data)
        self._size += written
        if self._part.size >= self._part_bytes:
            self._send()
        return written

    @abstractmethod
    def _send(self) -> None:
        """Send what was written since the last part, and begin another one."""


@cache
def _spill(process: int) -> Spill:
    """Of a process: one that was forked off has its own."""
    return Spill(process)
