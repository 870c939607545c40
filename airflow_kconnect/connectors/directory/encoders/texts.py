"""Files of texts or bytes, which are compressed as a whole, in the formats that other tools know by their endings.

``.gz`` is gzip's, ``.zst`` Zstandard's and ``.lz4`` LZ4's frame format; ``.snappy`` is that of Hadoop, which Spark,
Hive and Trino read.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import pyarrow as pa

from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.places.base import Output
from airflow_kconnect.places.streams import OutputStream

_BLOCK = 128 * 1024
"""Bytes that a compressor gets at once. Readers of Hadoop's format have buffers for 256 KiB."""
_GZIP_LEVEL = 6


class TextEncoder:
    """A BINARY or STRING column, row after row."""

    def __init__(self, file: Output, compression: str) -> None:
        self._stream = _compressed(file, compression)
        self._blocks = _Blocks(self._stream.write) if self._stream else None
        self._file = file

    def write(self, rows: pa.Array) -> None:
        (self._blocks or self._file).write(text_buffer(rows))

    def finish(self) -> None:
        if self._blocks and self._stream:
            self._blocks.finish()
            self._stream.close()


class _Blocks:
    """Cuts what is written into blocks: some compressors' bytes depend on how much they get at once."""

    def __init__(self, write: Callable[[bytes], Any]) -> None:
        self._write, self._held = write, bytearray()

    def write(self, data: memoryview) -> None:
        self._held += data
        whole = len(self._held) - len(self._held) % _BLOCK
        for start in range(0, whole, _BLOCK):
            self._write(bytes(self._held[start : start + _BLOCK]))
        del self._held[:whole]

    def finish(self) -> None:
        if self._held:
            self._write(bytes(self._held))


class _HadoopSnappy:
    """Blocks, each with its lengths before and after compression."""

    def __init__(self, file: Output) -> None:
        self._file, self._codec = file, pa.Codec("snappy")

    def write(self, block: bytes) -> None:
        data = self._codec.compress(block, asbytes=True)
        self._file.write(len(block).to_bytes(4, "big") + len(data).to_bytes(4, "big"))
        self._file.write(data)

    def close(self) -> None:
        """Nothing follows the last block."""


def _compressed(file: Output, compression: str) -> Any:
    match compression:
        case "none":
            return None
        case "gzip":
            return gzip.GzipFile("", "wb", _GZIP_LEVEL, OutputStream(file), mtime=0)
        case "snappy":
            return _HadoopSnappy(file)
    return pa.CompressedOutputStream(pa.PythonFile(OutputStream(file), "wb"), compression)


class _HadoopSnappyReader(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file, self._codec, self._left = file, pa.Codec("snappy"), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left and (head := self._file.read(8)):
            size, packed = int.from_bytes(head[:4], "big"), self._file.read(int.from_bytes(head[4:], "big"))
            self._left = self._codec.decompress(packed, size, asbytes=True)
        given = self._left[: len(buffer)]
        buffer[: len(given)], self._left = given, self._left[len(given) :]
        return len(given)


def decompressed(file: BinaryIO, name: str) -> io.BufferedIOBase:
    """What is in a file of this name. Reading raises EOFError, OSError or `zlib.error` if it is damaged."""
    match name.rpartition(".")[2]:
        case "gz":
            return gzip.GzipFile(fileobj=file)
        case "snappy":
            return io.BufferedReader(_HadoopSnappyReader(file))
        case "zst" | "lz4" as ending:
            stream = pa.CompressedInputStream(pa.PythonFile(file, "rb"), {"zst": "zstd"}.get(ending, ending))
            return io.BufferedReader(cast("io.RawIOBase", stream))
    return io.BufferedReader(cast("io.RawIOBase", file))
