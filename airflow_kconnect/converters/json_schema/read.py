"""JSON values to the values of Arrow columns, as JsonSchemaData's ``toConnectData`` converts them.

JSON values are those of `parsed`; values for Arrow have maps as lists of pairs.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, NoReturn

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import exact_single
from airflow_kconnect.converters.json.values import DAY_MS, EPOCH, TIME_RANGE
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.defaults import as_arrow
from airflow_kconnect.converters.json_schema.unions import chosen
from airflow_kconnect.converters.types import INTEGER_BITS, MAX_PRECISION, decimal_scale, logical_name

Read = Callable[[Any], Any]
"""Converts a JSON value. :raises DataError: the schema has no such value."""

_EXACT = Context(prec=MAX_PRECISION, traps=[Inexact, InvalidOperation])
_INT_DIGITS_MAX = 1000
_DEEP = "it nests too deeply"


def parsed(payload: bytes) -> Any:
    """The JSON of a message. Of equal members the last one wins; fractions are `Decimal`.

    :raises DataError: it is not JSON.
    """
    try:
        # Most messages are too short for integers that need care, and Python's own parser of them is faster.
        parse_int = int if len(payload) <= _INT_DIGITS_MAX else _any_integer
        return json.loads(payload.decode(), parse_float=_fraction, parse_int=parse_int, parse_constant=_no_number)
    except RecursionError:
        problem = _DEEP
    except ValueError as error:  # also UnicodeDecodeError
        problem = str(error)
    raise DataError(f"Error deserializing JSON message: {problem}")


def reader(schema: ConnectSchema) -> Read:
    """Converts the JSON values of a schema."""
    read = _not_null(schema)
    default = as_arrow(schema, schema.default)

    def value_of(node: Any) -> Any:
        if node is not None:
            return read(node)
        if default is None and not schema.optional:
            raise DataError(f"Invalid null value for required {schema.type.name} field")
        return default

    return value_of


def _fraction(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError("the exponent of a number has too many digits") from error


def _any_integer(text: str) -> int | Decimal:
    """Python refuses to convert integers of many digits; no column holds them, and as a float they are infinite."""
    return int(text) if len(text) <= _INT_DIGITS_MAX else Decimal(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _not_null(schema: ConnectSchema) -> Read:
    name = logical_name(schema)
    if name is not None:
        return _logical(name, schema)
    match schema.type:
        case SchemaType.STRUCT:
            return _union(schema) if names.is_union(schema) else _struct(schema)
        case SchemaType.ARRAY:
            return _array(schema)
        case SchemaType.MAP:
            return _map(schema) if names.has_string_keys(schema) else _entries(schema)
        case SchemaType.BOOLEAN:
            return lambda node: node if isinstance(node, bool) else _refuse("BOOLEAN", node)
        case SchemaType.STRING:
            return lambda node: node if isinstance(node, str) else _refuse("STRING", node)
        case SchemaType.BYTES:
            return _bytes
        case SchemaType.FLOAT32:
            return lambda node: exact_single(_double(node, "FLOAT32"))
        case SchemaType.FLOAT64:
            return _double
    return _integer(schema.type)


def _refuse(type_: str, node: Any) -> NoReturn:
    raise DataError(f"Invalid type for {type_}: the value in the JSON is {node_type(node)}")


def _integer(type_: SchemaType) -> Read:
    """Jackson keeps the lowest bits of a number, and reads anything else as zero: that would be silent damage."""
    half = 1 << (INTEGER_BITS[type_] - 1)

    def value_of(node: Any) -> int:
        number = node if type(node) is int else _whole(node)
        if number is None:
            _refuse(type_.name, node)
        if not -half <= number < half:
            raise DataError(f"Invalid value for {type_.name}: the number in the JSON is out of range")
        return number

    return value_of


def _whole(node: Any) -> int | None:
    """The integer that is written as a fraction, such as 1.0 or 1e3; None if it is not one of at most 64 bits."""
    if not isinstance(node, Decimal) or (node and node.adjusted() > 19):
        return None
    return int(node) if node == node.to_integral_value() else None


def _double(node: Any, type_: str = "FLOAT64") -> float:
    """As in ``BigDecimal``, there is no negative zero."""
    if isinstance(node, Decimal):
        return float(node) + 0.0
    if type(node) is not int:
        _refuse(type_, node)
    try:
        return float(node)
    except OverflowError:
        return math.inf if node > 0 else -math.inf


def _bytes(node: Any) -> bytes:
    if not isinstance(node, str):
        _refuse("BYTES", node)
    try:
        return base64.b64decode(node, validate=True)
    except ValueError as error:
        raise DataError("Invalid bytes field: it is not base64") from error


def _struct(schema: ConnectSchema) -> Read:
    members = [(member.name, reader(member.schema)) for member in schema.fields]
    missing = {member.name: as_arrow(member.schema, member.schema.default) for member in schema.fields}

    def value_of(node: Any) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(node)}")
        # Connect does not check that required members are there.
        return {name: read(node[name]) if name in node else missing[name] for name, read in members}

    return value_of


def _array(schema: ConnectSchema) -> Read:
    assert schema.value_schema is not None
    read = reader(schema.value_schema)

    def value_of(node: Any) -> list[Any]:
        if not isinstance(node, list):
            _refuse("ARRAY", node)
        return [read(item) for item in node]

    return value_of


def _map(schema: ConnectSchema) -> Read:
    assert schema.value_schema is not None
    read = reader(schema.value_schema)

    def value_of(node: Any) -> list[tuple[str, Any]]:
        if not isinstance(node, dict):
            raise DataError(f"Maps with string fields should be encoded as JSON objects, but found {node_type(node)}")
        return [(name, read(value)) for name, value in node.items()]

    return value_of


def _entries(schema: ConnectSchema) -> Read:
    assert schema.key_schema is not None and schema.value_schema is not None
    read_key, read_value = reader(schema.key_schema), reader(schema.value_schema)

    def pair(entry: Any) -> tuple[Any, Any]:
        if not isinstance(entry, dict):
            raise DataError(f"Found invalid map entry instead of object: {node_type(entry)}")
        if len(entry) != 2 or not {names.KEY, names.VALUE} == entry.keys():
            raise DataError("Found invalid map entry: expected an object with key and value")
        key = read_key(entry[names.KEY])
        if key is None:
            raise DataError("Found a map entry whose key is null, which no column of Spark can hold")
        return key, read_value(entry[names.VALUE])

    def value_of(node: Any) -> list[tuple[Any, Any]]:
        if not isinstance(node, list):
            raise DataError(
                f"Maps with non-string fields should be encoded as JSON array of objects, but found {node_type(node)}"
            )
        return list({repr(key): (key, value) for key, value in map(pair, node)}.values())

    return value_of


def _union(schema: ConnectSchema) -> Read:
    members = [(member.name, reader(member.schema)) for member in schema.fields]
    schemas = [member.schema for member in schema.fields]
    nothing = dict.fromkeys(member.name for member in schema.fields)

    def value_of(node: Any) -> dict[str, Any]:
        index = chosen(schemas, node)
        if index is None:
            raise DataError("Did not find matching oneof field for data")
        name, read = members[index]
        return nothing | {name: read(node)}

    return value_of


def _logical(name: str, schema: ConnectSchema) -> Read:
    match name:
        case _ if name == DECIMAL:
            scale = decimal_scale(schema)
            return lambda node: _decimal(node, scale)
        case _ if name == DATE:
            return _date
        case _ if name == TIMESTAMP:
            return _timestamp
    assert name == TIME
    return _time


def _decimal(node: Any, scale: int) -> Decimal:
    if isinstance(node, str):
        try:
            data = base64.b64decode(node, validate=True)
        except ValueError as error:
            raise DataError("Invalid bytes for Decimal field") from error
        if not data or len(data) > MAX_PRECISION:
            raise DataError("Invalid bytes for Decimal field")
        number = Decimal(f"{int.from_bytes(data, 'big', signed=True)}E-{scale}")
    elif type(node) is int or isinstance(node, Decimal):
        number = Decimal(node)
    else:
        raise DataError(
            f"Invalid type for Decimal, underlying representation should be numeric or bytes but was {node_type(node)}"
        )
    if number and number.adjusted() + scale >= MAX_PRECISION:
        raise DataError(f"Decimal has more than {MAX_PRECISION} digits")
    try:
        # Arrow crashes on exponents such as those of 0e-999999999.
        return number.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
    except Inexact as error:
        raise DataError(f"Decimal has more digits after the point than its schema's scale, {scale}") from error


def _whole_number(node: Any, name: str, bits: int) -> int:
    if type(node) is not int or not -(1 << (bits - 1)) <= node < 1 << (bits - 1):
        what = "integer" if bits == 32 else "integral"
        raise DataError(
            f"Invalid type for {name}, underlying representation should be {what} but was {node_type(node)}"
        )
    return node


def _date(node: Any) -> date:
    days = _whole_number(node, "Date", 32)
    try:
        return EPOCH.date() + timedelta(days=days)
    except OverflowError as error:
        raise DataError(f"Date is outside of the years 1 to 9999: {days} days since 1970") from error


def _time(node: Any) -> int:
    millis = _whole_number(node, "Time", 32)
    if not 0 <= millis < DAY_MS:
        raise DataError(TIME_RANGE)
    return millis


def _timestamp(node: Any) -> datetime:
    millis = _whole_number(node, "Timestamp", 64)
    try:
        return EPOCH + timedelta(milliseconds=millis)
    except OverflowError as error:
        raise DataError(f"Timestamp is outside of the years 1 to 9999: {millis} ms since 1970") from error


def node_type(node: Any) -> str:
    """What Jackson calls the type of a JSON value."""
    match node:
        case None:
            return "NULL"
        case bool():
            return "BOOLEAN"
        case str():
            return "STRING"
        case list():
            return "ARRAY"
        case dict():
            return "OBJECT"
    return "NUMBER"
