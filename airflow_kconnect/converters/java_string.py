"""Java's toString() for Python data; `java_text` does the same for columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.header_text.literals import milliseconds
from airflow_kconnect.converters.header_text.values import convert_to_string
from airflow_kconnect.converters.json.values import EPOCH

_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)


def java_string(schema: ConnectSchema | None, value: Any) -> str:
    """The text; bytes are base64, since Java would print their memory address."""
    ms = milliseconds(schema, value)
    if ms is not None:
        return f"{EPOCH + timedelta(milliseconds=ms):%a %b %d %H:%M:%S UTC %Y}"
    match value:
        case list() | tuple():
            items = schema.value_schema if schema else None
            return f"[{', '.join(_item(items, item) for item in value)}]"
        case Mapping() if schema is not None and schema.type is SchemaType.STRUCT:
            return f"Struct{{{','.join(_members(schema, value))}}}"
        case Mapping():
            keys, values = (schema.key_schema, schema.value_schema) if schema else (None, None)
            pairs = (f"{_item(keys, key)}={_item(values, item)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
    text = convert_to_string(schema, value)
    return "null" if text is None else text


def _item(schema: ConnectSchema | None, value: Any) -> str:
    """An integer stays one: nested lists have a single schema, although one may hold integers and another fractions."""
    is_other = isinstance(value, int) and schema is not None and schema.type in _FLOATS
    return java_string(None if is_other else schema, value)


def _members(schema: ConnectSchema, value: Mapping[str, Any]) -> list[str]:
    given = ((f, value.get(f.name)) for f in schema.fields)
    return [f"{f.name}={java_string(f.schema, item)}" for f, item in given if item is not None]
