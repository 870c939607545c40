"""Lists and maps in the text of header values: merges the schemas of their elements, as Connect's ``Values`` does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from airflow_kconnect.connect.data import DATE, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import exact_single, single_of
from airflow_kconnect.converters.header_text.literals import Typed, milliseconds, of_milliseconds
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.types import logical_name

_WIDER = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)


def list_of(items: Sequence[Typed | None]) -> Typed:
    """An ARRAY; its elements have no schema if they have nothing in common or all are null.

    :raises DataError: an element cannot be converted to the common schema.
    """
    schema = _common(items)
    return ConnectSchema(SchemaType.ARRAY, value_schema=schema), [_converted(schema, item) for item in items]


def map_of(entries: Sequence[tuple[Typed, Typed | None]]) -> Typed:
    """A MAP, likewise; of equal keys the last one wins.

    :raises DataError: a key or value cannot be converted to the common schema, or Python does not support such keys.
    """
    keys = _common(key for key, _ in entries)
    values = None if keys is None else _common(value for _, value in entries)
    last = {}
    for key, value in entries:
        if isinstance(key[1], list | dict):
            raise DataError("Keys of maps must be plain values")
        last[key[1]] = key, value
    data = {_converted(keys, key): _converted(values, value) for key, value in last.values()}
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values), data


def _common(items: Iterable[Typed | None]) -> ConnectSchema | None:
    common: ConnectSchema | None = None
    for schema in (item[0] for item in items if item is not None):
        if common is None or common.type is schema.type:
            common = schema
        elif common.type in _WIDER and schema.type in _WIDER:
            common = max(common, schema, key=lambda candidate: _WIDER.index(candidate.type))
        else:
            return None
    return common


def _converted(to: ConnectSchema | None, item: Typed | None) -> Any:
    if to is None:
        return None if item is None else item[1]
    if item is None:
        raise DataError("Unable to convert a null value to a schema that requires a value")
    schema, value = item
    if schema == to or to.type not in _WIDER:
        return value
    ms = milliseconds(schema, value)
    if logical_name(to) is not None:
        return _temporal(to, value, ms)
    if ms is not None:
        raise DataError(f"Unable to convert {value} to a number")
    match to.type:
        case SchemaType.FLOAT32:
            return single_of(value)
        case SchemaType.FLOAT64:
            return exact_single(value) if schema.type is SchemaType.FLOAT32 else float(value)
        case _:
            return value


def _temporal(to: ConnectSchema, value: Any, ms: int | None) -> Any:
    """A number counts days or milliseconds; any other instant stays the same."""
    if ms is None:
        ms = value * DAY_MS if to.name == DATE else value
    try:
        return of_milliseconds(to, ms)
    except OverflowError as error:
        raise DataError(f"Unable to convert {value} to a date") from error
