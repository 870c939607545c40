"""The JSON text of Python values: what the Catalyst expressions of `write` make of columns, for value after value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, TIME, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import float_text
from airflow_kconnect.converters.json.values import DAY_MS, NO_TIME, NUMERIC, REQUIRED, string_keys, to_json_value
from airflow_kconnect.converters.schemaless import plain_text, quoted
from airflow_kconnect.converters.types import is_misnamed, logical_name

_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)


def is_writable(schema: ConnectSchema) -> bool:
    """Whether `JsonWriter` can write its values. Spark writes maps whose keys are not texts, as VARIANT."""
    if schema.type is SchemaType.MAP and not string_keys(schema):
        return False
    inner = [*(field.schema for field in schema.fields), *(s for s in (schema.value_schema,) if s is not None)]
    return all(map(is_writable, inner))


@dataclass(frozen=True)
class JsonWriter:
    """Writes the messages of one shape; pickled.

    :param before: what precedes the payload. :param after: what follows it; both are empty without an envelope.
    :param decimal_format: ``decimal.format``. :param replaces_nulls: ``replace.null.with.default``.
    """

    schema: ConnectSchema
    before: bytes
    after: bytes
    decimal_format: str
    replaces_nulls: bool

    def __call__(self, value: Any) -> bytes:
        """:raises DataError: a null where it is not allowed, or a value that does not match its schema."""
        if not self.before and self._has_plain_digits(self.schema) and value is not None:
            return plain_text(value).encode()
        return self.before + self._text(self.schema, value, "").encode() + self.after

    def _has_plain_digits(self, schema: ConnectSchema) -> bool:
        return logical_name(schema) == DECIMAL and self.decimal_format == NUMERIC

    def _text(self, schema: ConnectSchema, value: Any, path: str) -> str:
        """:param path: names of the fields that lead to the value."""
        replaced = value is None and self.replaces_nulls
        if problem := _problem(schema, value, default=replaced and schema.default is not None):
            raise DataError(f"{problem}: {path}" if path else problem)
        value = schema.default if replaced else value
        if value is None:
            return "null"
        match schema.type:
            case SchemaType.STRUCT:
                return "{" + ",".join(self._members(schema, value, path)) + "}"
            case SchemaType.ARRAY if schema.value_schema is not None:
                return "[" + ",".join([self._text(schema.value_schema, item, path) for item in value]) + "]"
            case SchemaType.MAP if schema.value_schema is not None:
                pairs = value.items() if isinstance(value, Mapping) else value
                values = schema.value_schema
                return "{" + ",".join([f"{quoted(k)}:{self._text(values, v, path)}" for k, v in pairs]) + "}"
            case _:
                return self._leaf(schema, value)

    def _members(self, schema: ConnectSchema, value: Mapping[str, Any], path: str) -> Iterator[str]:
        for field in schema.fields:
            inside = f"{path}.{field.name}" if path else field.name
            yield f"{quoted(field.name)}:{self._text(field.schema, value.get(field.name), inside)}"

    def _leaf(self, schema: ConnectSchema, value: Any) -> str:
        if schema.type in _FLOATS:
            text = float_text(value, single=schema.type is SchemaType.FLOAT32)
            return text if math.isfinite(value) else quoted(text)
        if schema.type is SchemaType.BOOLEAN:
            return "true" if value else "false"
        written = to_json_value(schema, value, self.decimal_format)
        return quoted(written) if isinstance(written, str) else str(written)


def _problem(schema: ConnectSchema, value: Any, *, default: bool) -> str | None:
    """Why a value cannot be written.

    :param default: whether a default replaces it.
    """
    if value is None:
        return None if schema.optional or default else REQUIRED
    if is_misnamed(schema):
        return f"Invalid type for {schema.name}: {schema.type.name}"
    return NO_TIME if logical_name(schema) == TIME and not 0 <= value < DAY_MS else None
