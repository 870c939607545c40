"""Types of columns: their names in configurations and plans, of Arrow, and as Connect's schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_DECIMAL = re.compile(r"decimal\((\d{1,2})\)")
_PRECISION = 38
_NAMED = {
    "boolean": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "float32": "float32",
    "float64": "float64", "string": "string", "date": "date32", "timestamp": "timestamp",
}  # fmt: skip
TYPES = (*_NAMED, "decimal(scale)")
"""Names of types in a configuration."""

Description = str | list[Any] | dict[str, Any]
"""A type as JSON data: a name of `TYPES`, a list with the type of the items, an object with those of the members."""


def type_of(name: str) -> str | None:
    """The name, if it is one of a type; else None."""
    match = _DECIMAL.fullmatch(name)
    return name if name in _NAMED or (match and int(match[1]) <= _PRECISION) else None


def arrow_of(description: Description) -> pa.DataType:
    """The Arrow type that is described."""
    import pyarrow as pa

    if isinstance(description, dict):
        return pa.struct([(name, arrow_of(each)) for name, each in description.items()])
    if isinstance(description, list):
        return pa.list_(arrow_of(description[0]))
    if match := _DECIMAL.fullmatch(description):
        return pa.decimal128(_PRECISION, int(match[1]))
    if description == "timestamp":
        return pa.timestamp("us", tz="UTC")
    return pa.type_for_alias(_NAMED[description])


def described(type_: pa.DataType, *, texts_only: bool = False) -> Description:
    """What is kept of a type that was found in a sample.

    :param texts_only: the format has no dates: what looks like one is a string.
    """
    import pyarrow as pa

    if pa.types.is_struct(type_):
        return {field.name: described(field.type, texts_only=texts_only) for field in type_}
    if pa.types.is_list(type_):
        return [described(type_.value_type, texts_only=texts_only)]
    if texts_only and (pa.types.is_temporal(type_) or pa.types.is_null(type_)):
        return "string"
    if pa.types.is_timestamp(type_):
        return "timestamp"
    if pa.types.is_decimal(type_):
        return f"decimal({type_.scale})"
    names = {pa.type_for_alias(arrow): name for name, arrow in _NAMED.items() if arrow != "timestamp"}
    return names.get(type_, "string")


def columns_in(facts: Iterable[Mapping[str, Any]]) -> dict[str, Description]:
    """The columns that facts of files have, each with the type that is kept.

    The order of members is the same in each run: that of the file with most of them.
    """
    texts = dict.fromkeys(text for each in facts if (text := each.get("columns")))
    columns: dict[str, Description] = {}
    for found in sorted(map(json.loads, texts), key=len, reverse=True):
        for name, description in found.items():
            columns.setdefault(name, description)
    return columns


def schema_of(columns: pa.Schema, file: str) -> ConnectSchema:
    """The schema of a file's rows.

    :raises DataError: two columns have the same name, or Connect has nothing for a type.
    """
    names = columns.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"file {file} has two columns `{twice[0]}`: rename one of them")
    members = tuple(
        Field(field.name, _schema(field.type, field.nullable, f"{file}: `{field.name}`")) for field in columns
    )
    return ConnectSchema(SchemaType.STRUCT, fields=members)


def _schema(type_: pa.DataType, optional: bool, where: str) -> ConnectSchema:
    import pyarrow.types as at

    if at.is_dictionary(type_):
        return _schema(type_.value_type, optional, where)
    if at.is_struct(type_):
        fields = tuple(Field(f.name, _schema(f.type, f.nullable, f"{where}.{f.name}")) for f in type_)
        return ConnectSchema(SchemaType.STRUCT, optional, fields=fields)
    if at.is_map(type_):
        key = _schema(type_.key_type, False, f"{where}.key")
        value = _schema(type_.item_type, type_.item_field.nullable, f"{where}.value")
        return ConnectSchema(SchemaType.MAP, optional, key_schema=key, value_schema=value)
    if at.is_list(type_) or at.is_large_list(type_) or at.is_fixed_size_list(type_):
        items = _schema(type_.value_type, type_.value_field.nullable, f"{where}[]")
        return ConnectSchema(SchemaType.ARRAY, optional, value_schema=items)
    if (logical := _logical(type_, where)) is not None:
        kind, name, parameters = logical
        return ConnectSchema(kind, optional, name=name, version=1, parameters=parameters)
    for is_it, kind in _plain():
        if is_it(type_):
            return ConnectSchema(kind, optional)
    raise DataError(f"file {where} is of type {type_}, which Connect has not: leave the column out when it is written")


def _logical(type_: pa.DataType, where: str) -> tuple[SchemaType, str, Mapping[str, str] | None] | None:
    import pyarrow.types as at

    if at.is_decimal(type_) or at.is_uint64(type_):
        scale = 0 if at.is_uint64(type_) else type_.scale
        if scale < 0:
            raise DataError(f"file {where} is of type {type_}: a scale below 0 cannot be read")
        return SchemaType.BYTES, DECIMAL, {"scale": str(scale)}
    if at.is_date(type_):
        return SchemaType.INT32, DATE, None
    if at.is_time(type_):
        return SchemaType.INT32, TIME, None
    return (SchemaType.INT64, TIMESTAMP, None) if at.is_timestamp(type_) else None


def _plain() -> tuple[tuple[Any, SchemaType], ...]:
    import pyarrow.types as at

    return (
        (at.is_boolean, SchemaType.BOOLEAN),
        (at.is_int8, SchemaType.INT8),
        (lambda type_: at.is_int16(type_) or at.is_uint8(type_), SchemaType.INT16),
        (lambda type_: at.is_int32(type_) or at.is_uint16(type_), SchemaType.INT32),
        (lambda type_: at.is_int64(type_) or at.is_uint32(type_), SchemaType.INT64),
        (lambda type_: at.is_float16(type_) or at.is_float32(type_), SchemaType.FLOAT32),
        (at.is_float64, SchemaType.FLOAT64),
        (
            lambda type_: at.is_binary(type_) or at.is_large_binary(type_) or at.is_fixed_size_binary(type_),
            SchemaType.BYTES,
        ),
        (
            lambda type_: (
                at.is_string(type_) or at.is_large_string(type_) or at.is_null(type_) or at.is_string_view(type_)
            ),
            SchemaType.STRING,
        ),
    )
