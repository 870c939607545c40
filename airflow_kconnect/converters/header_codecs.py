"""Converts single header values between bytes and Python data: for Python tasks and previews.

Frames keep headers as bytes, since each record may have different ones, of any type. They are converted only where a
program reads or writes them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Protocol

from airflow_kconnect.connect.data import (
    BYTES_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
)
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.base import Converter
from airflow_kconnect.converters.byte_array import ByteArrayConverter
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.converters.header_text.values import convert_to_string, parse_string
from airflow_kconnect.converters.java_string import java_string
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.converters.json.headers import JsonHeaders
from airflow_kconnect.converters.primitives import PrimitiveConverter
from airflow_kconnect.converters.string import StringConverter
from airflow_kconnect.converters.types import logical_name


class HeaderCodec(Protocol):
    """What a converter does to a single header value. See `header_codec`."""

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        """Schema and value. :raises DataError: the converter cannot read the bytes."""
        ...

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        """The bytes. :raises DataError: the value cannot be written."""
        ...


def header_codec(converter: Converter) -> HeaderCodec:
    """The codec that does to single values what a converter does to columns; it can be pickled.

    :raises ConfigError: a user-defined converter, which handles columns only.
    """
    match converter:
        case SimpleHeaderConverter():
            return SimpleHeaders()
        case StringConverter():
            return StringHeaders()
        case ByteArrayConverter():
            return ByteArrayHeaders()
        case PrimitiveConverter():
            return PrimitiveHeaders(converter.type, converter.name)
        case JsonConverter():
            return JsonHeaders.of(converter)
    raise ConfigError({"header.converter": [f"{converter.java_name()} cannot convert headers"]})


@dataclass(frozen=True)
class SimpleHeaders:
    """``org.apache.kafka.connect.storage.SimpleHeaderConverter``: no input is an error, but many values change their
    type.
    """

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        if raw is None:
            return None, None
        try:
            return parse_string(raw.decode(errors="replace"))
        except RecursionError:  # Connect gives this answer to a StackOverflowError
            return BYTES_SCHEMA, raw

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        return _utf8(convert_to_string(schema, value))


@dataclass(frozen=True)
class StringHeaders:
    """``org.apache.kafka.connect.storage.StringConverter``."""

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        return OPTIONAL_STRING_SCHEMA, None if raw is None else raw.decode(errors="replace")

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        return None if value is None else _utf8(java_string(schema, value))


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode(errors="replace")


@dataclass(frozen=True)
class ByteArrayHeaders:
    """``org.apache.kafka.connect.converters.ByteArrayConverter``."""

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        return OPTIONAL_BYTES_SCHEMA, raw

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not SchemaType.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type.name}")
        if value is None or isinstance(value, bytes | bytearray):
            return None if value is None else bytes(value)
        kind = type(value).__name__
        raise DataError(f"ByteArrayConverter is not compatible with objects of type {kind}")


_FORMATS = {
    SchemaType.BOOLEAN: ">?",
    SchemaType.INT16: ">h",
    SchemaType.INT32: ">i",
    SchemaType.INT64: ">q",
    SchemaType.FLOAT32: ">f",
    SchemaType.FLOAT64: ">d",
}


@dataclass(frozen=True)
class PrimitiveHeaders:
    """The converters of booleans and numbers.

    :param name: of the type, for error texts.
    """

    type: SchemaType
    name: str

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        schema = ConnectSchema(self.type, optional=True)
        if raw is None:
            return schema, None
        format_ = _FORMATS[self.type]
        if self.type is SchemaType.BOOLEAN and (len(raw) != 1 or raw[0] > 1):
            raise DataError("Failed to deserialize boolean: it is not one byte, 0 or 1")
        if len(raw) != (size := struct.calcsize(format_)):
            raise DataError(f"Failed to deserialize {self.name}: it has {len(raw)} bytes and not {size}")
        return schema, struct.unpack(format_, raw)[0]

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        if schema is not None and (schema.type is not self.type or logical_name(schema) is not None):
            raise DataError(f"Failed to serialize to {self.name} (was {schema.type.name})")
        if value is None:
            return None
        try:
            if isinstance(value, bool) is not (self.type is SchemaType.BOOLEAN):
                raise TypeError
            # Java writes any NaN as the same bytes.
            return struct.pack(_FORMATS[self.type], math.nan if value != value else value)
        except (struct.error, TypeError, OverflowError) as error:
            raise DataError(f"Failed to serialize to {self.name} (was {type(value).__name__})") from error
