"""Avro's object container files, out of Arrow columns: each field for many rows at once."""

from __future__ import annotations

import bz2
import hashlib
import lzma
import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.encoders.avro_schemas import container_schema
from airflow_kconnect.converters.avro.payloads.plans import Node
from airflow_kconnect.converters.avro.payloads.write_columns import ColumnWriter
from airflow_kconnect.converters.registered.slices import bytes_of, joined, offsets_of
from airflow_kconnect.places.base import Output

_BLOCK = 256 * 1024
"""Bytes after which a block ends."""
_ROWS_AT_ONCE = 10_000
CODECS = {"none": "null", "deflate": "deflate", "snappy": "snappy", "zstd": "zstandard", "bzip2": "bzip2", "xz": "xz"}
"""Compressions, with Avro's names for them."""


class AvroEncoder:
    """A struct is a record, each member of which may be null.

    The marker between blocks is a digest of the schema and the first block: it cannot be in the values by chance, and
    is the same if the same rows are written again.

    :param name: of the record, with its namespace; None: as AvroConverter names records without a name.
    :param made: the schema's text, and how rows are written by it, if it is not made of the columns.
    """

    def __init__(
        self, file: Output, compression: str, name: str | None = None, *, made: tuple[str, Node] | None = None
    ) -> None:
        self._file, self._name = file, name
        self._codec, self._compress = CODECS[compression], _compressor(compression)
        self._made = made
        self._marker = b""
        self._left = pa.array([], pa.binary())

    def write(self, rows: pa.Array) -> None:
        if self._made is None:
            self._made = container_schema(rows.type, self._name)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            records = _records(self._made[1], rows.slice(start, _ROWS_AT_ONCE))
            self._left = self._write_blocks(pa.concat_arrays([self._left, records]))

    def finish(self) -> None:
        if len(self._left):
            self._write_block(self._left)

    def _write_blocks(self, records: pa.Array) -> pa.Array:
        """Write the blocks that are full; returns the other records."""
        ends, begin = offsets_of(records), 0
        while (end := int(np.searchsorted(ends, int(ends[begin]) + _BLOCK))) < len(ends):
            self._write_block(records.slice(begin, end - begin))
            begin = end
        return records.slice(begin)

    def _write_block(self, records: pa.Array) -> None:
        ends = offsets_of(records)
        data = bytes_of(records)[ends[0] : ends[-1]].tobytes()
        if not self._marker:
            head = self._head()
            self._marker = hashlib.sha256(head + data).digest()[:16]
            self._file.write(head + self._marker)
        packed = self._compress(data)
        self._file.write(_long(len(records)) + _long(len(packed)))
        self._file.write(packed)
        self._file.write(self._marker)

    def _head(self) -> bytes:
        assert self._made is not None
        entries = {"avro.schema": self._made[0].encode(), "avro.codec": self._codec.encode()}
        pairs = b"".join(_sized(key.encode()) + _sized(value) for key, value in entries.items())
        return b"Obj\x01" + _long(len(entries)) + pairs + _long(0)


def _records(plan: Node, rows: pa.Array) -> pa.Array:
    writer = ColumnWriter()
    made = writer.write(plan, rows, np.arange(len(rows)))
    if writer.errors:
        raise DataError(f"a record does not fit into an Avro file: {next(iter(writer.errors.values()))}")
    return joined(made, len(rows))


def _compressor(compression: str) -> Callable[[bytes], bytes]:
    match compression:
        case "none":
            return bytes
        case "deflate":
            return _deflated
        case "bzip2":
            return bz2.compress
        case "xz":
            return lzma.compress
        case "snappy":
            codec = pa.Codec("snappy")
            return lambda data: codec.compress(data, asbytes=True) + zlib.crc32(data).to_bytes(4, "big")
    zstd = pa.Codec("zstd")
    return lambda data: bytes(zstd.compress(data, asbytes=True))


def _deflated(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


def _long(number: int) -> bytes:
    """A number that is not negative."""
    number, made = number << 1, bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def _sized(data: bytes) -> bytes:
    return _long(len(data)) + data
