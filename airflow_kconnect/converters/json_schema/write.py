"""Values of Arrow columns to JSON, as JsonSchemaData's ``fromConnectData`` converts them."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import float_text, single_of
from airflow_kconnect.converters.json.values import DAY_MS, EPOCH, NO_TIME, NUMERIC, REQUIRED
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.defaults import as_arrow
from airflow_kconnect.converters.types import decimal_scale, is_misnamed, logical_name
from airflow_kconnect.converters.unscaled import decimal_base64
from airflow_kconnect.java_text.json import canonical_json

Write = Callable[[Any], Any]
"""Makes the value that `canonical_json` writes. :raises DataError: the value cannot be written."""

NOTHING = object()
"""Stands for no value at all: a null that the schema does not allow is left out."""


def payload(value: Any) -> bytes:
    """The JSON text of a value that a `Write` has made.

    :raises DataError: it is null, and the schema does not allow that.
    """
    if value is NOTHING:
        raise DataError(REQUIRED)
    return canonical_json(value).encode("utf-8", "surrogatepass")


def writer(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    """Converts the values of a schema: those of Arrow columns, with dates as days and timestamps as microseconds."""
    write = _not_null(schema, settings)
    default = None if settings.ignore_default_for_nullables else as_arrow(schema, schema.default)
    null = write(default) if default is not None else None if schema.optional else NOTHING
    return lambda value: null if value is None else write(value)


def member_writer(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    """The same for a member of a struct."""
    write = writer(schema, settings)
    if not settings.nulls_left_out:
        return write
    return lambda value: NOTHING if (made := write(value)) is None else made


def _not_null(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    if is_misnamed(schema):
        return lambda _: _refuse(schema)
    name = logical_name(schema)
    if name is not None:
        return _logical(name, schema, settings)
    match schema.type:
        case SchemaType.STRUCT:
            return _union(schema, settings) if names.is_union(schema) else _struct(schema, settings)
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            write = _inner(schema.value_schema, settings)
            return lambda items: [write(item) for item in items]
        case SchemaType.MAP:
            return _map(schema, settings)
        case SchemaType.BYTES:
            return lambda value: base64.b64encode(value).decode()
        case SchemaType.FLOAT32:
            return lambda value: single_of(value) if math.isfinite(value) else float_text(value, single=True)
        case SchemaType.FLOAT64:
            return lambda value: value if math.isfinite(value) else float_text(value, single=False)
    return lambda value: value


def _refuse(schema: ConnectSchema) -> None:
    raise DataError(f"Invalid type for {schema.name}: {schema.type.name}")


def _inner(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    """Of elements and entries, which cannot be left out."""
    write = writer(schema, settings)

    def written(value: Any) -> Any:
        made = write(value)
        return None if made is NOTHING else made

    return written


def _struct(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    members = [(member.name, member_writer(member.schema, settings)) for member in schema.fields]

    def written(value: dict[str, Any]) -> dict[str, Any]:
        made = ((name, write(value.get(name))) for name, write in members)
        return {name: item for name, item in made if item is not NOTHING}

    return written


def _union(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    members = [(member.name, writer(member.schema, settings)) for member in schema.fields]
    null = None if schema.optional else NOTHING

    def written(value: dict[str, Any]) -> Any:
        return next((write(value[name]) for name, write in members if value.get(name) is not None), null)

    return written


def _map(schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    assert schema.key_schema is not None and schema.value_schema is not None
    keys, values = _inner(schema.key_schema, settings), _inner(schema.value_schema, settings)
    if names.has_string_keys(schema):
        return lambda pairs: {keys(key): values(value) for key, value in pairs}
    return lambda pairs: [{names.KEY: keys(key), names.VALUE: values(value)} for key, value in pairs]


def _logical(name: str, schema: ConnectSchema, settings: JsonSchemaSettings) -> Write:
    if name == DECIMAL:
        if settings.decimal_format == NUMERIC:
            return lambda value: value
        scale = decimal_scale(schema)
        return lambda value: decimal_base64(value, scale)
    if name == DATE:
        return lambda value: value if type(value) is int else (value - EPOCH.date()).days
    if name == TIMESTAMP:
        return _millis
    return _time


def _millis(value: Any) -> int:
    """:param value: microseconds since the epoch, or a default."""
    return value // 1000 if type(value) is int else (value - EPOCH) // timedelta(milliseconds=1)


def _time(value: int) -> int:
    if not 0 <= value < DAY_MS:
        raise DataError(f"{NO_TIME}.")
    return value
