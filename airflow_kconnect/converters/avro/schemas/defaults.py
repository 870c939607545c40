"""Defaults: their JSON values in Avro schemas to and from the Python values of Connect schemas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.schema import AvroSchema, AvroType
from airflow_kconnect.converters.floats import exact_single, single_of
from airflow_kconnect.converters.json.values import EPOCH
from airflow_kconnect.converters.types import INTEGER_BITS, MAX_PRECISION, decimal_scale, logical_name
from airflow_kconnect.converters.unscaled import unscaled_bytes

_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)


class InvalidDefault(DataError):
    """A default is not a value of its schema: AvroData ignores such defaults."""


def default_of_avro(schema: ConnectSchema, avro: AvroSchema, node: Any, settings: AvroSettings) -> Any:
    """The Python value of a default.

    :param schema: the Connect schema of the Avro schema.
    :param node: JSON value of the default.
    :raises InvalidDefault: the default is not a value of the schema.
    """
    if avro.type is AvroType.UNION:
        return _of_union(schema, avro, node, settings)
    if node is None:
        raise InvalidDefault("null is not a value of the type")
    try:
        return _of_type(schema, avro, node, settings)
    except (TypeError, ValueError, ArithmeticError, KeyError) as error:
        raise InvalidDefault(f"{node!r:.100} is not a value of type {avro.type}") from error


def _of_union(schema: ConnectSchema, avro: AvroSchema, node: Any, settings: AvroSettings) -> Any:
    if node is None:
        return None
    branches = [branch for branch in avro.branches if branch.type is not AvroType.NULL]
    for index, branch in enumerate(branches):
        member = schema.fields[index].schema if names.is_union(schema) else schema
        try:
            value = default_of_avro(member, branch, node, settings)
        except InvalidDefault:
            continue
        return {schema.fields[index].name: value} if names.is_union(schema) else value
    raise InvalidDefault(f"{node!r:.100} is not a value of any branch of the union")


def _of_type(schema: ConnectSchema, avro: AvroSchema, node: Any, settings: AvroSettings) -> Any:
    items = schema.value_schema
    match avro.type:
        case AvroType.ARRAY if items is not None and schema.type is SchemaType.ARRAY:
            return tuple(default_of_avro(items, avro.item_schema, item, settings) for item in _checked(node, list))
        case AvroType.MAP if items is not None:
            entries = _checked(node, dict).items()
            return {key: default_of_avro(items, avro.item_schema, value, settings) for key, value in entries}
        case AvroType.RECORD:
            return _of_record(schema, avro, _checked(node, dict), settings)
    return _primitive(schema, node)


def _of_record(schema: ConnectSchema, avro: AvroSchema, node: dict[str, Any], settings: AvroSettings) -> Any:
    def value(member: ConnectSchema, type_: AvroSchema, name: str) -> Any:
        if name not in node and (member.default is not None or member.optional):
            return member.default
        return default_of_avro(member, type_, node[name], settings)

    pairs = zip(schema.fields, avro.fields, strict=True)
    return {ours.name: value(ours.schema, theirs.schema, theirs.name) for ours, theirs in pairs}


def _primitive(schema: ConnectSchema, node: Any) -> Any:
    name = logical_name(schema)
    if name == DECIMAL:
        return _decimal(str(_checked(node, str)).encode("latin-1"), decimal_scale(schema))
    match schema.type:
        case SchemaType.STRING:
            return _checked(node, str)
        case SchemaType.BOOLEAN:
            return _checked(node, bool)
        case SchemaType.BYTES:
            return str(_checked(node, str)).encode("latin-1")
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            if isinstance(node, bool) or not isinstance(node, int | float):
                raise TypeError(f"{node} is not a number")
            return exact_single(node) if schema.type is SchemaType.FLOAT32 else float(node)
        case SchemaType.INT8 | SchemaType.INT16 | SchemaType.INT32 | SchemaType.INT64:
            return _instant(name, _integer(node, INTEGER_BITS[schema.type]))
    raise TypeError(f"{schema.type} has no default")


def _integer(node: Any, bits: int) -> int:
    if type(node) is not int or not -(1 << bits - 1) <= node < 1 << bits - 1:
        raise ValueError(f"{node} is not an integer of {bits} bits")
    return node


def _instant(name: str | None, number: int) -> Any:
    if name == DATE:
        return EPOCH.date() + timedelta(days=number)
    return EPOCH + timedelta(milliseconds=number) if name == TIMESTAMP else number


def _checked(node: Any, type_: type) -> Any:
    if not isinstance(node, type_):
        raise TypeError(f"{node} is not a {type_.__name__}")
    return node


def _decimal(data: bytes, scale: int) -> Decimal:
    if not data:
        raise ValueError("no bytes")
    number = Decimal(f"{int.from_bytes(data, 'big', signed=True)}E-{scale}")
    if number.adjusted() + scale >= MAX_PRECISION:
        raise ValueError(f"more than {MAX_PRECISION} digits")
    return number


def _decimal_bytes(value: Decimal, scale: int) -> bytes:
    """The unscaled value, big-endian and as short as possible (``BigInteger.toByteArray``)."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    unscaled = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    power: int = 10 ** abs(exponent + scale)
    unscaled = unscaled * power if exponent + scale >= 0 else unscaled // power
    return unscaled_bytes(unscaled)


def default_to_avro(schema: ConnectSchema, value: Any, settings: AvroSettings) -> Any:
    """The JSON value of a default, as AvroData's ``defaultValueFromConnect`` makes it.

    :raises InvalidDefault: JSON has no such value: NaN or infinity.
    """
    if value is None:
        return None
    match schema.type:
        case SchemaType.ARRAY if schema.value_schema is not None:
            items = schema.value_schema
            return [default_to_avro(items, item, settings) for item in value]
        case SchemaType.MAP:
            return _map_to_avro(schema, value, settings)
        case SchemaType.STRUCT:
            return _struct_to_avro(schema, value, settings)
    return _primitive_to_avro(schema, value)


def _map_to_avro(schema: ConnectSchema, value: Mapping[Any, Any], settings: AvroSettings) -> Any:
    keys, values = schema.key_schema, schema.value_schema
    assert keys is not None and values is not None
    if writes_avro_map(schema, settings):
        return {key: default_to_avro(values, item, settings) for key, item in value.items()}
    return [[default_to_avro(keys, k, settings), default_to_avro(values, v, settings)] for k, v in value.items()]


def writes_avro_map(schema: ConnectSchema, settings: AvroSettings) -> bool:
    """Whether a MAP is written as an Avro map; others are arrays of entries."""
    keys = schema.key_schema
    is_text = keys is not None and keys.type is SchemaType.STRING
    return is_text and (settings.allow_optional_map_keys or not (keys is not None and keys.optional))


def _struct_to_avro(schema: ConnectSchema, value: Mapping[str, Any], settings: AvroSettings) -> Any:
    if names.is_union(schema):
        chosen = (f for f in schema.fields if value.get(f.name) is not None)
        return next((default_to_avro(f.schema, value[f.name], settings) for f in chosen), None)
    scrub = names.scrubbed if settings.scrub_invalid_names else str
    return {scrub(f.name): default_to_avro(f.schema, value.get(f.name), settings) for f in schema.fields}


def _primitive_to_avro(schema: ConnectSchema, value: Any) -> Any:
    name = logical_name(schema)
    if name == DECIMAL:
        return _decimal_bytes(value, decimal_scale(schema)).decode("latin-1")
    if name == DATE:
        return (value - EPOCH.date()).days
    if name == TIMESTAMP:
        return (value - EPOCH) // timedelta(milliseconds=1)
    if schema.type is SchemaType.BYTES:
        return bytes(value).decode("latin-1")
    if schema.type in _FLOATS:
        if not math.isfinite(value):
            raise InvalidDefault(f"{value} cannot be a default in Avro")
        return single_of(value) if schema.type is SchemaType.FLOAT32 else float(value)
    return value
