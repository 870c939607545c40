"""Writes JsonConverter's messages in batches: texts and integers, without Python for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.base import Written
from airflow_kconnect.converters.batch_encoders import EachValue
from airflow_kconnect.converters.json.value_text import JsonWriter, is_writable
from airflow_kconnect.converters.json.values import REQUIRED
from airflow_kconnect.converters.registered.slices import content_of
from airflow_kconnect.converters.schemaless import json_text, parsed, quoted, utf8
from airflow_kconnect.converters.types import is_misnamed, logical_name

_LITERALS = (SchemaType.BOOLEAN, SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_QUOTE, _BACKSLASH, _CONTROLS = ord('"'), ord("\\"), 32


def column_encoder(writer: JsonWriter) -> ColumnWriter | None:
    """The encoder of texts and integers; None for others."""
    schema = writer.schema
    if is_misnamed(schema) or logical_name(schema) is not None:
        return None
    if schema.type is SchemaType.STRING or schema.type in _LITERALS:
        default = schema.default if writer.replaces_nulls else None
        null = writer.before + _literal(schema, default).encode() + writer.after
        required = not schema.optional and default is None
        return ColumnWriter(writer.before, writer.after, null, required, schema.type is SchemaType.STRING)
    return None


def value_encoder(writer: JsonWriter) -> EachValue | None:
    """The encoder of anything else; None if Spark has to write it."""
    return EachValue(writer) if is_writable(writer.schema) else None


@dataclass(frozen=True)
class ColumnWriter:
    """Writes texts, or values whose text is JSON.

    :param before: what precedes a payload. :param after: what follows it.
    :param null: the message of null. :param required: null is an error.
    :param quotes: whether values are texts.
    """

    before: bytes
    after: bytes
    null: bytes
    required: bool
    quotes: bool

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        mark = b'"' if self.quotes else b""
        texts = _escaped(data) if self.quotes else data.cast(pa.string())
        around = (pa.scalar(self.before + mark), texts.cast(pa.binary()), pa.scalar(mark + self.after))
        messages = pc.binary_join_element_wise(*around, pa.scalar(b""))
        if not data.null_count:
            return messages, pa.nulls(len(data), pa.string())
        messages = messages.fill_null(self.null)
        problem = pa.scalar(REQUIRED if self.required else None, pa.string())
        return messages, pc.if_else(data.is_null(), problem, pa.scalar(None, pa.string()))


def _literal(schema: ConnectSchema, value: Any) -> str:
    if value is None:
        return "null"
    return quoted(value) if schema.type is SchemaType.STRING else str(value).lower()


def _escaped(texts: pa.Array) -> pa.Array:
    """The texts as they are in JSON, between quotes."""
    for character in _special(texts):
        texts = pc.replace_substring(texts, character, quoted(character)[1:-1])
    return texts


def _special(texts: pa.Array) -> Iterator[str]:
    """The characters in the texts that JSON escapes, the backslash first."""
    data = content_of(texts)
    if (data == _BACKSLASH).any():
        yield "\\"
    if (data == _QUOTE).any():
        yield '"'
    controls = data < _CONTROLS
    if controls.any():
        yield from map(chr, np.unique(data[controls]).tolist())


@dataclass(frozen=True)
class SchemalessWriter:
    """Writes a JSON text of schemaless data; pickled.

    :param with_envelope: ``schemas.enable``.
    """

    with_envelope: bool

    def __call__(self, text: str | None) -> bytes | None:
        data = None if text is None else parsed(text)
        if data is None:
            return None
        payload = utf8(json_text(data))
        return b'{"schema":null,"payload":' + payload + b"}" if self.with_envelope else payload
