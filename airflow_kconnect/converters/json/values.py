"""Python values of Connect schemas (their defaults) to and from the JSON values that JsonConverter writes."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import exact_single, float_text, single_of
from airflow_kconnect.converters.types import INTEGER_BITS, MAX_PRECISION, decimal_scale, logical_name
from airflow_kconnect.converters.unscaled import decimal_base64

BASE64 = "BASE64"
NUMERIC = "NUMERIC"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MS = 86_400_000
REQUIRED = "Conversion error: null value for field that is required and has no default value"
NO_TIME = "Kafka Connect Time type should not have any date fields set to non-zero values"
TIME_RANGE = f"Time values must use number of milliseconds greater than 0 and less than {DAY_MS}"


def to_json_value(schema: ConnectSchema, value: Any, decimal_format: str = BASE64) -> Any:
    """A Python value of a schema (a default, for instance) as JsonConverter writes it."""
    if value is None:
        return None
    name = logical_name(schema)
    if name is not None:
        return _logical_to_json(schema, name, value, decimal_format)
    match schema.type:
        case SchemaType.BYTES:
            return base64.b64encode(value).decode()
        case SchemaType.ARRAY if schema.value_schema is not None:
            return [to_json_value(schema.value_schema, item, decimal_format) for item in value]
        case SchemaType.MAP:
            return _map_to_json(schema, value, decimal_format)
        case SchemaType.STRUCT:
            return {f.name: to_json_value(f.schema, value.get(f.name), decimal_format) for f in schema.fields}
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            return _float_to_json(value, single=schema.type is SchemaType.FLOAT32)
        case _:
            return value


def _float_to_json(value: float, *, single: bool) -> float | str:
    """NaN and infinity are strings, as Jackson writes them."""
    if not math.isfinite(value):
        return float_text(value, single=single)
    return single_of(value) if single else float(value)


def _map_to_json(schema: ConnectSchema, value: Mapping[Any, Any], decimal_format: str) -> Any:
    keys, values = schema.key_schema, schema.value_schema
    if keys is None:
        raise DataError("A map without entries has no schema that could be written")
    pairs = [
        [to_json_value(keys, k, decimal_format), v if values is None else to_json_value(values, v, decimal_format)]
        for k, v in value.items()
    ]
    return dict(pairs) if string_keys(schema) else pairs


def string_keys(schema: ConnectSchema) -> bool:
    """Whether a MAP is written as a JSON object; maps with other keys are lists of pairs."""
    return schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING


def _logical_to_json(schema: ConnectSchema, name: str, value: Any, decimal_format: str) -> Any:
    if name == DECIMAL:
        return _decimal_to_json(value, decimal_scale(schema), decimal_format)
    if name == DATE:
        return (value - EPOCH.date()).days
    if name == TIMESTAMP:
        return (value - EPOCH) // timedelta(milliseconds=1)
    return value


def _decimal_to_json(value: Decimal, scale: int, decimal_format: str) -> str | Decimal:
    if decimal_format == NUMERIC:
        return value
    return decimal_base64(value, scale)


def from_json_value(schema: ConnectSchema, node: Any, *, replace_nulls: bool = True) -> Any:
    """The Python value of a schema that JsonConverter would read from a JSON value.

    :param replace_nulls: ``replace.null.with.default``.
    :raises DataError: the value is not one of the schema.
    """
    if node is None:
        default = schema.default if replace_nulls else None
        if default is None and not schema.optional:
            raise DataError(f"Invalid null value for required {schema.type.name} field")
        return default
    name = logical_name(schema)
    try:
        if name is None:
            value = _plain_from_json(schema, node, replace_nulls)
        else:
            value = _logical_from_json(schema, name, node)
    except (ValueError, TypeError, ArithmeticError, AttributeError, binascii.Error) as error:
        raise DataError(f"Invalid value for a {schema.type.name} field") from error
    if value is None and not schema.optional:
        raise DataError(f"Invalid null value for required {schema.type.name} field")
    return value


def _plain_from_json(schema: ConnectSchema, node: Any, replace_nulls: bool) -> Any:
    """As Jackson's ``intValue()``, ``textValue()`` and so on: a node of another type is zero, false, empty or null."""
    if schema.type in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT):
        return _nested_from_json(schema, node, replace_nulls)
    number = node if isinstance(node, int | float) and not isinstance(node, bool) else 0
    match schema.type:
        case SchemaType.BOOLEAN:
            return node is True
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            # Jackson reads numbers as BigDecimal, which has no negative zero.
            value = float(number) + 0.0
            return exact_single(value) if schema.type is SchemaType.FLOAT32 else value
        case SchemaType.STRING:
            return node if isinstance(node, str) else None
        case SchemaType.BYTES:
            return base64.b64decode(node, validate=True) if isinstance(node, str) else None
        case integer:
            return _wrapped(int(number), INTEGER_BITS[integer])


def _nested_from_json(schema: ConnectSchema, node: Any, replace_nulls: bool) -> Any:
    items, read = schema.value_schema, partial(from_json_value, replace_nulls=replace_nulls)
    match schema.type:
        case SchemaType.ARRAY if items is not None:
            nodes = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            return tuple(read(items, item) for item in nodes)
        case SchemaType.MAP if items is not None and schema.key_schema is not None:
            if not isinstance(node, dict if string_keys(schema) else list):
                raise TypeError("neither an object nor a list of pairs")
            pairs = node.items() if isinstance(node, dict) else node
            return {read(schema.key_schema, k): read(items, v) for k, v in pairs}
    if not isinstance(node, dict):
        raise TypeError("no object")
    return {f.name: read(f.schema, node.get(f.name)) for f in schema.fields}


def _wrapped(number: int, bits: int) -> int:
    """The lowest bits of an integer, as Java's casts leave them."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def _logical_from_json(schema: ConnectSchema, name: str, node: Any) -> Any:
    if name == DECIMAL:
        return _decimal_from_json(node, decimal_scale(schema))
    if type(node) is float and node.is_integer():
        node = int(node)
    if type(node) is not int:
        raise TypeError(f"{schema.type.name} is not an integer")
    if name == DATE:
        return EPOCH.date() + timedelta(days=node)
    if name == TIMESTAMP:
        return EPOCH + timedelta(milliseconds=node)
    if name == TIME and not 0 <= node < DAY_MS:
        raise DataError(TIME_RANGE)
    return node


def _decimal_from_json(node: Any, scale: int) -> Decimal:
    if isinstance(node, str):
        unscaled = int.from_bytes(base64.b64decode(node, validate=True), "big", signed=True)
        number = Decimal(f"{unscaled}E-{scale}")
    else:
        number = Decimal(str(node))
    if number.adjusted() + scale >= MAX_PRECISION:
        raise DataError(f"Decimal has more than {MAX_PRECISION} digits")
    return number
