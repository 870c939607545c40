"""JsonConverter for single header values, as Python data."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

from airflow_kconnect.connect.data import TIME, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import float_text
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.converters.json.envelopes import ENVELOPE_REQUIRED, MALFORMED
from airflow_kconnect.converters.json.schemas import from_json_schema, to_json_schema
from airflow_kconnect.converters.json.values import DAY_MS, NO_TIME, REQUIRED, from_json_value, to_json_value
from airflow_kconnect.converters.types import logical_name
from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.java_text.json_reading import leniently, why_not_json

_PYTHON = {
    SchemaType.BOOLEAN: bool,
    SchemaType.STRING: str,
    **dict.fromkeys((SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64), int),
    **dict.fromkeys((SchemaType.FLOAT32, SchemaType.FLOAT64), float),
}


@dataclass(frozen=True)
class JsonHeaders:
    """``org.apache.kafka.connect.json.JsonConverter``.

    :param bare: shape of the input, if it is payloads without envelopes.
    :param enveloped: whether the output has an envelope.
    :param replace_nulls: ``replace.null.with.default``.
    """

    bare: Shape | None
    enveloped: bool
    decimal_format: str
    replace_nulls: bool

    @classmethod
    def of(cls, converter: JsonConverter) -> JsonHeaders:
        """The codec that behaves like the converter."""
        bare = next(iter(converter.shapes_of([])), None)
        replace_nulls: bool = converter.config_values["replace.null.with.default"]
        return cls(bare, converter.schemas_enable, converter.decimal_format, replace_nulls)

    def decode(self, raw: bytes | None) -> tuple[ConnectSchema | None, Any]:
        if raw is None:
            return None, None
        node = _parsed(raw)
        if self.bare is not None:
            return self._typed(self.bare.schema, node)
        if not isinstance(node, dict) or node.keys() != {"schema", "payload"}:
            raise DataError(ENVELOPE_REQUIRED)
        return self._typed(from_json_schema(node["schema"]), node["payload"])

    def _typed(self, schema: ConnectSchema | None, node: Any) -> tuple[ConnectSchema | None, Any]:
        return schema, node if schema is None else from_json_value(schema, node, replace_nulls=self.replace_nulls)

    def encode(self, schema: ConnectSchema | None, value: Any) -> bytes | None:
        if schema is None and value is None:
            return None
        payload = self._payload(schema, value)
        if self.enveloped:
            head = None if schema is None else to_json_schema(schema, self.decimal_format)
            return canonical_json({"schema": head, "payload": payload}).encode()
        return canonical_json(payload).encode()

    def _payload(self, schema: ConnectSchema | None, value: Any) -> Any:
        try:
            if schema is not None:
                value = to_json_value(schema, self._filled(schema, value), self.decimal_format)
            return _plain_json(value, decimals=schema is not None)
        except (TypeError, ValueError, AttributeError) as error:
            kind = "no schema" if schema is None else f"a {schema.type.name} schema"
            raise DataError(f"A {type(value).__name__} with {kind} cannot be written as JSON: {error}") from error

    def _filled(self, schema: ConnectSchema, value: Any) -> Any:
        """The value with nulls replaced by defaults. :raises DataError: a null where it is not allowed."""
        if value is None:
            return self._null(schema)
        items = schema.value_schema
        match schema.type:
            case SchemaType.STRUCT:
                return {f.name: self._filled(f.schema, value.get(f.name)) for f in schema.fields}
            case SchemaType.ARRAY if items is not None:
                return [self._filled(items, item) for item in value]
            case SchemaType.MAP if items is not None:
                return {key: self._filled(items, item) for key, item in value.items()}
            case _:
                return _checked(schema, value)

    def _null(self, schema: ConnectSchema) -> Any:
        if self.replace_nulls and schema.default is not None:
            return schema.default
        if not schema.optional:
            raise DataError(REQUIRED)
        return None


def _checked(schema: ConnectSchema, value: Any) -> Any:
    """:raises DataError: it has another type: nested lists can, as all of them share one list's schema."""
    if logical_name(schema) == TIME and not 0 <= value < DAY_MS:
        raise DataError(NO_TIME)
    expected = None if logical_name(schema) else _PYTHON.get(schema.type)
    if expected is not None and type(value) is not expected:
        raise DataError(f"Invalid type for {schema.type.name}: {type(value).__name__}")
    return value


def _parsed(raw: bytes) -> Any:
    try:
        text = raw.decode()
        return leniently(_loads, text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{MALFORMED}{why_not_json(raw)}") from error


def _float(text: str) -> float:
    """Parse a number without a negative zero: Jackson reads numbers as BigDecimal."""
    return float(text) + 0.0


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_loads = partial(json.loads, parse_constant=_refuse, parse_float=_float)


def _plain_json(value: Any, *, decimals: bool) -> Any:
    """What canonical JSON can hold: bytes as base64, maps with non-string keys as pairs, NaN as a string.

    :param decimals: whether it may contain them; without a schema they cannot be written.
    """
    canonical = partial(_plain_json, decimals=decimals)
    match value:
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case float() if not math.isfinite(value):
            return float_text(value, single=False)
        case Mapping():
            pairs = [[canonical(key), canonical(item)] for key, item in value.items()]
            return dict(pairs) if all(isinstance(key, str) for key in value) else pairs
        case list() | tuple():
            return [canonical(item) for item in value]
        case None | bool() | str() | int() | float():
            return value
        case Decimal() if decimals:
            return value
    raise TypeError(f"{type(value).__name__} has no schema of its own")
