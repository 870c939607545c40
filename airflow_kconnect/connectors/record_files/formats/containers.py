"""Avro's object container files: their heads, their blocks, and where they can be cut."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from airflow_kconnect.converters.avro.payloads.bounds import unsigned, varint

_MAGIC = b"Obj\x01"
_MARKER = 16
_CHUNK = 64 * 1024
_LARGEST = 2**30
"""Bytes that a block may have: some of them are one array of Arrow."""
_NUMBERS = 20
"""Two numbers have at most that many bytes: those of a block."""


@dataclass(frozen=True)
class Head:
    """What a file says first.

    :param schema: its text. :param marker: what is between blocks. :param end: where the first block begins.
    """

    schema: str
    codec: str
    marker: bytes
    end: int


@dataclass(frozen=True)
class Block:
    """Records that follow each other, in their bytes. :param at: where it is in the file."""

    at: int
    count: int
    data: bytes


def head_of(file: BinaryIO, size: int) -> Head:
    """The head of a file. :param size: of the file.

    :raises ValueError: it is none of Avro.
    """
    data = file.read(_CHUNK)
    while True:
        try:
            return _head(data)
        except IndexError:
            more = file.read(len(data)) if len(data) < min(size, _LARGEST) else b""
            if not more:
                raise ValueError("it ends within its head") from None
            data += more


def _head(data: bytes) -> Head:
    """:raises IndexError: there is more of it."""
    if not data.startswith(_MAGIC):
        raise ValueError("it does not begin as a container file of Avro does")
    entries: dict[bytes, bytes] = {}
    at = len(_MAGIC)
    while True:
        count, at = varint(data, at)
        if count < 0:
            _, at = varint(data, at)
        for _ in range(abs(count)):
            key, at = _sized(data, at)
            entries[key], at = _sized(data, at)
        if count == 0:
            break
    marker = _taken(data, at, _MARKER)
    if b"avro.schema" not in entries:
        raise ValueError("its head has no schema")
    codec = entries.get(b"avro.codec", b"null").decode("utf-8", "replace")
    if codec not in _UNPACKED:
        raise ValueError(f"its blocks are compressed by {codec!r}; known are {', '.join(_UNPACKED)}")
    return Head(entries[b"avro.schema"].decode(), codec, marker, at + _MARKER)


def _sized(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = varint(data, at)
    return _taken(data, at, size), at + size


def _taken(data: bytes, at: int, size: int) -> bytes:
    if size < 0:
        raise ValueError("its head is damaged")
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]


def blocks_of(file: BinaryIO, head: Head, begin: int, end: int, size: int) -> Iterator[Block]:
    """The blocks between two positions. :param size: of the file.

    :raises ValueError: one is damaged.
    """
    at = max(begin, head.end)
    file.seek(at)
    data = b""
    while at < end:
        data += file.read(max(_NUMBERS - len(data), 0))
        try:
            count, length, first = _numbers(data)
        except IndexError:
            raise ValueError(f"it ends within the block at byte {at}") from None
        except ValueError as error:
            raise damaged(at, error) from error
        if count < 0 or not 0 <= length <= _LARGEST:
            raise damaged(at, f"it has {count} records in {length} bytes")
        if (stop := at + first + length + _MARKER) > size:
            raise ValueError(f"it ends within the block at byte {at}, which has {length} bytes")
        data += file.read(max(stop - at - len(data), 0))
        if data[first + length : first + length + _MARKER] != head.marker:
            raise damaged(at, "the marker after it is missing")
        yield Block(at, count, _unpacked(head.codec, data[first : first + length], at))
        data, at = data[stop - at :], stop


def _numbers(data: bytes) -> tuple[int, int, int]:
    """How many records and bytes a block has, and where these begin."""
    count, at = varint(data, 0)
    length, at = varint(data, at)
    return count, length, at


def damaged(at: int, why: object) -> ValueError:
    """The error of a block. :param at: where it begins in the file."""
    return ValueError(f"the block at byte {at} is damaged: {why}")


def cut_after(file: BinaryIO, head: Head, position: int, size: int) -> int:
    """The first position from a position on at which a block begins; `size` if there is none."""
    start = max(position, head.end) - _MARKER
    file.seek(start)
    seen = b""
    while chunk := file.read(_CHUNK):
        seen += chunk
        found = seen.find(head.marker)
        while found >= 0:
            cut = start + found + _MARKER
            if cut >= size or _is_block(file, head, cut, size):
                return min(cut, size)
            found = seen.find(head.marker, found + 1)
        keep = seen[-_MARKER + 1 :]
        start += len(seen) - len(keep)
        seen = keep
        file.seek(start + len(seen))
    return size


def _is_block(file: BinaryIO, head: Head, at: int, size: int) -> bool:
    """Whether a block begins here: the bytes of a marker may be in values, too."""
    file.seek(at)
    try:
        count, length, first = _numbers(file.read(_NUMBERS))
    except (IndexError, ValueError):
        return False
    stop = at + first + length
    if count < 0 or length < 0 or stop + _MARKER > size:
        return False
    file.seek(stop)
    return file.read(_MARKER) == head.marker


def _unpacked(codec: str, data: bytes, at: int) -> bytes:
    try:
        unpacked = _UNPACKED[codec](data)
    except (zlib.error, lzma.LZMAError, ValueError, OSError, EOFError, IndexError) as error:
        raise damaged(at, error) from error
    if len(unpacked) > _LARGEST:
        raise damaged(at, "it is too large")
    return unpacked


def _inflated(data: bytes) -> bytes:
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    unpacked = unpacking.decompress(data, _LARGEST)
    if not unpacking.eof:
        raise ValueError("it is incomplete, or too large")
    return unpacked


def _of_snappy(data: bytes) -> bytes:
    packed, check = data[:-4], data[-4:]
    size, _ = unsigned(packed, 0)
    if size > _LARGEST:
        raise ValueError("it is too large")
    unpacked: bytes = pa.Codec("snappy").decompress(packed, size, asbytes=True)
    if zlib.crc32(unpacked).to_bytes(4, "big") != check:
        raise ValueError("its checksum is another one")
    return unpacked


def _of_zstandard(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        unpacked: bytes = stream.read()
    return unpacked


_UNPACKED: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _inflated,
    "snappy": _of_snappy,
    "zstandard": _of_zstandard,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
}
