"""Schemas of records that no type describes: found in their values, and widened by later ones, never narrowed."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    decimal_schema,
)
from airflow_kconnect.connect.errors import DataError

_OF_TYPES: Mapping[type, ConnectSchema] = {
    str: STRING_SCHEMA.as_optional(),
    int: INT64_SCHEMA.as_optional(),
    float: FLOAT64_SCHEMA.as_optional(),
    bool: BOOLEAN_SCHEMA.as_optional(),
    bytes: BYTES_SCHEMA.as_optional(),
    datetime.datetime: TIMESTAMP_SCHEMA.as_optional(),
    datetime.date: DATE_SCHEMA.as_optional(),
}
_EXACT = 2**53
"""Up to it, each integer is a floating-point number."""
_NUMBERS = (SchemaType.INT64, SchemaType.FLOAT64)


def inferred(value: Any, name: str | None = None) -> ConnectSchema | None:
    """The schema of a value; None if it says nothing: null, or an empty list or dict.

    Whatever is found is optional: that a field is always there, no number of records can show.

    :param name: of a struct. :raises DataError: there is no schema for values of its type.
    """
    if value is None:
        return None
    if (known := _OF_TYPES.get(type(value))) is not None:
        return known
    if isinstance(value, decimal.Decimal):
        exponent = value.as_tuple().exponent
        return decimal_schema(max(0, -exponent) if isinstance(exponent, int) else 0).as_optional()
    if isinstance(value, Mapping):
        fields = tuple(Field(str(key), found) for key, item in value.items() if (found := inferred(item)) is not None)
        return ConnectSchema(SchemaType.STRUCT, optional=True, name=name, fields=fields) if fields else None
    if isinstance(value, list):
        items: ConnectSchema | None = None
        for item in value:
            items = widened(items, inferred(item), "its items")
        return None if items is None else ConnectSchema(SchemaType.ARRAY, optional=True, value_schema=items)
    raise DataError(f"there is no schema for values of type {type(value).__name__}")


def widened(known: ConnectSchema | None, found: ConnectSchema | None, where: str) -> ConnectSchema | None:
    """A schema that values of both have: more fields, larger numbers, more digits after the point.

    :param where: what it is about, for the error. :raises DataError: there is none, as of a text and a number.
    """
    if known is None or found is None or known == found:
        return found if known is None else known
    if {known.type, found.type} == set(_NUMBERS) and known.name is found.name is None:
        return FLOAT64_SCHEMA.as_optional()
    if known.type is not found.type or (known.name != found.name and known.type is not SchemaType.STRUCT):
        raise DataError(f"{where} was {_shown(known)} in other records, and is {_shown(found)} in this one")
    match known.type:
        case SchemaType.STRUCT:
            return replace(known, fields=_widened_fields(known, found, where))
        case SchemaType.ARRAY:
            return replace(known, value_schema=widened(known.value_schema, found.value_schema, f"items of {where}"))
        case SchemaType.BYTES if known.name == DECIMAL:
            return decimal_schema(max(scale_of(known), scale_of(found))).as_optional()
    return known


def _widened_fields(known: ConnectSchema, found: ConnectSchema, where: str) -> tuple[Field, ...]:
    fields = {field.name: field.schema for field in known.fields}
    for field in found.fields:
        wider = widened(fields.get(field.name), field.schema, f"field `{field.name}` of {where}")
        assert wider is not None
        fields[field.name] = wider
    return tuple(Field(name, schema) for name, schema in fields.items())


def scale_of(schema: ConnectSchema) -> int:
    """Digits after the point of a decimal."""
    return int((schema.parameters or {}).get("scale", 0))


class Misfit(Exception):
    """A value that its schema cannot hold, or would not hold as it is."""


Writer = Callable[[Any], Any]


def writer_of(schema: ConnectSchema) -> Writer:
    """What makes of a value, which is not null, what Arrow expects for an inferred schema.

    It raises `Misfit` if the value has another type, or a field that the schema does not have.
    """
    match schema.type:
        case SchemaType.STRUCT:
            return _struct_writer(schema)
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return _array_writer(writer_of(schema.value_schema))
        case SchemaType.FLOAT64:
            return _floating
        case SchemaType.BYTES if schema.name == DECIMAL:
            return _decimal_writer(scale_of(schema))
    return _exactly(next(type_ for type_, known in _OF_TYPES.items() if known == schema.as_optional()))


def _exactly(type_: type) -> Writer:
    def write(value: Any) -> Any:
        if type(value) is not type_:
            raise Misfit
        return value

    return write


def _floating(value: Any) -> float:
    if type(value) is int and abs(value) > _EXACT:  # Arrow says so, where it is not one of those that are exact
        raise Misfit
    if type(value) not in (float, int):
        raise Misfit
    return float(value)


def _decimal_writer(scale: int) -> Writer:
    def write(value: Any) -> Any:
        if not isinstance(value, decimal.Decimal):
            raise Misfit
        exponent = value.as_tuple().exponent
        if isinstance(exponent, int) and -exponent > scale:
            raise Misfit
        return value

    return write


def _array_writer(write_item: Writer) -> Writer:
    def write(value: Any) -> list[Any]:
        if type(value) is not list:
            raise Misfit
        return [None if item is None else write_item(item) for item in value]

    return write


def _struct_writer(schema: ConnectSchema) -> Writer:
    writers = {field.name: writer_of(field.schema) for field in schema.fields}

    def write(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Misfit
        written: dict[str, Any] = {}
        for name, item in value.items():
            member = writers.get(name)
            if member is not None:
                written[name] = None if item is None else member(item)
            elif inferred(item) is not None:  # otherwise it says nothing
                raise Misfit
        return written

    return write


def _shown(schema: ConnectSchema) -> str:
    names = {DECIMAL: "a decimal", DATE: "a date", TIMESTAMP: "a timestamp"}
    texts = {SchemaType.STRING: "a text", SchemaType.STRUCT: "a dict", SchemaType.ARRAY: "a list"}
    return names.get(schema.name or "") or texts.get(schema.type) or f"of type {schema.type.value}"
