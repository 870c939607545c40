"""Avro files: rows of a schema in blocks, encoded in batches; and the schema of rows of several shapes."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.batches import AvroEncoder
from airflow_kconnect.converters.avro.payloads.binding import bind
from airflow_kconnect.converters.avro.payloads.constants import varint
from airflow_kconnect.converters.avro.schemas.from_connect import avro_schema_text
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.places.base import Output
from airflow_kconnect.registry.schema import RegisteredSchema

_SYNC = bytes.fromhex("6b636f6e6e656374206176726f2e2e2e")
"""Between blocks. It may be any 16 bytes; the same rows give the same file."""
_BLOCK_BYTES = 1024 * 1024
_TEXT = ConnectSchema(SchemaType.STRING, optional=True)
_WIDTHS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)


class AvroRows:
    """Writes structs as records; of a schema that is none, their only member."""

    def __init__(self, file: Output, schema: ConnectSchema, codec: str) -> None:
        settings = AvroSettings()
        text = avro_schema_text(schema, settings)
        self._encoder = AvroEncoder(bind(schema, parse_schema(RegisteredSchema("AVRO", text)), settings))
        self._file, self._is_record = file, schema.type is SchemaType.STRUCT
        self._compressed = _CODECS[codec]
        meta = {"avro.codec": codec.encode(), "avro.schema": text.encode()}
        file.write(b"Obj\x01" + _header(meta) + _SYNC)

    def write(self, rows: pa.Array) -> None:
        data, errors = self._encoder.encode(rows if self._is_record else rows.field(0))
        if errors is not None:
            raise DataError(f"a record does not fit into an Avro file: {errors.drop_null()[0].as_py()}")
        step = max(1, len(data) * _BLOCK_BYTES // max(data.nbytes, 1))
        for start in range(0, len(data), step):
            block = data.slice(start, step)
            packed = self._compressed(text_buffer(block))
            self._file.write(varint(len(block)) + varint(len(packed)) + packed + _SYNC)

    def finish(self) -> None:
        """Each block is complete."""


def schema_of(shapes: Sequence[Shape], *, may_be_null: bool) -> ConnectSchema:
    """The schema that holds the values of all shapes: of structs that with the fields of all.

    :param may_be_null: there may be no data, whatever the shapes say.
    :raises DataError: there is none.
    """
    schemas = [shape.schema or _TEXT for shape in shapes] or [_TEXT]
    structs = [schema for schema in schemas if schema.type is SchemaType.STRUCT]
    if structs and len(structs) < len(schemas):
        others = [Field("value", schema.as_optional()) for schema in schemas if schema.type is not SchemaType.STRUCT]
        structs += [replace(structs[0], fields=(field,)) for field in others]
    found = _united(structs or schemas, "the value")
    if not may_be_null:
        return found
    if found.type is SchemaType.STRUCT:
        return replace(found, fields=tuple(Field(each.name, each.schema.as_optional()) for each in found.fields))
    return found.as_optional()


def _united(schemas: Sequence[ConnectSchema], path: str) -> ConnectSchema:
    first = schemas[-1]
    if all(schema == first for schema in schemas):
        return first
    optional = any(schema.optional for schema in schemas)
    if all(schema.type is SchemaType.STRUCT for schema in schemas):
        return replace(first, fields=_members(schemas, path), optional=optional)
    for widths in (_WIDTHS, _FLOATS):
        if all(schema.type in widths and schema.name is None for schema in schemas):
            widest = max(schemas, key=lambda schema: widths.index(schema.type))
            return replace(widest, optional=optional, default=None)
    inner = first.value_schema
    same = all(replace(schema, optional=optional, default=None, value_schema=None) ==
               replace(first, optional=optional, default=None, value_schema=None) for schema in schemas)  # fmt: skip
    if not same:
        kinds = ", ".join(sorted({schema.name or schema.type for schema in schemas}))
        raise DataError(
            f"{path} is {kinds} in different records, which one Avro file cannot hold: set `format.class` to "
            "JsonFormat, or cast it with a transformation"
        )
    if inner is not None:
        inner = _united([schema.value_schema for schema in schemas if schema.value_schema is not None], path)
    return replace(first, optional=optional, default=None, value_schema=inner)


def _members(schemas: Sequence[ConnectSchema], path: str) -> tuple[Field, ...]:
    names = dict.fromkeys(field.name for schema in schemas for field in schema.fields)
    members = []
    for name in names:
        found = [field.schema for schema in schemas if (field := schema.field(name)) is not None]
        member = _united(found, f"{path}.{name}" if path != "the value" else f"field `{name}`")
        members.append(Field(name, member if len(found) == len(schemas) else replace(member, optional=True)))
    return tuple(members)


def _header(meta: Mapping[str, bytes]) -> bytes:
    entries = b"".join(_sized(name.encode()) + _sized(value) for name, value in meta.items())
    return varint(len(meta)) + entries + varint(0)


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def _deflate(data: Any) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


def _snappy(data: Any) -> bytes:
    packed: bytes = pa.compress(bytes(data), codec="snappy", asbytes=True)
    return packed + zlib.crc32(data).to_bytes(4, "big")


def _zstandard(data: Any) -> bytes:
    packed: bytes = pa.compress(bytes(data), codec="zstd", asbytes=True)
    return packed


_CODECS: Mapping[str, Callable[[Any], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": _zstandard,
}
