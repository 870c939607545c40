"""Objects as files of Python: read by ranges, and written forwards."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.places.base import Output

_AHEAD = 4 * 1024 * 1024


class SeekableReader(io.RawIOBase):
    """A file that can seek. Subclasses say how large it is, and read from `_at`."""

    _at = 0

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, begin + offset)
        return self._at


class RangeReader(SeekableReader):
    """An object that is fetched as it is read.

    :param fetch: the bytes from a start to an end, which is not included.
    :param size: bytes. :param ahead: bytes that are fetched at once, if fewer are asked for.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], size: int, ahead: int = _AHEAD) -> None:
        self._fetch, self._size, self._ahead = fetch, size, ahead
        self._begin, self._bytes = 0, b""

    @property
    def size(self) -> int:
        return self._size

    def readall(self) -> bytes:
        return self.read(self._size - self._at)

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.readall()
        end = min(self._at + size, self._size)
        parts = []
        while self._at < end:
            part = self._some(end)
            parts.append(part)
            self._at += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(min(len(buffer), self._ahead))
        buffer[: len(data)] = data
        return len(data)

    def _some(self, end: int) -> bytes:
        """At least one byte from where it is."""
        if not self._begin <= self._at < self._begin + len(self._bytes):
            self._begin = self._at
            until = min(max(end, self._at + self._ahead), self._size)
            self._bytes = self._fetch(self._at, until)
            if len(self._bytes) != until - self._at:
                raise RetriableError(f"the store sent {len(self._bytes)} bytes of {until - self._at}: run again")
        start = self._at - self._begin
        return self._bytes[start : start + end - self._at]


class OutputStream(io.RawIOBase):
    """An output as a file, for libraries that ask for one; to close it does not end the output."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return self._output.write(data)
