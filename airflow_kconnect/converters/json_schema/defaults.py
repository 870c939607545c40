"""Defaults of Connect's schemas: from and to values of Arrow columns."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError


def as_arrow(schema: ConnectSchema, value: Any) -> Any:
    """The value of an Arrow column for a default."""
    if value is None:
        return None
    match schema.type:
        case SchemaType.MAP if schema.key_schema and schema.value_schema:
            keys, values = schema.key_schema, schema.value_schema
            return [(as_arrow(keys, key), as_arrow(values, item)) for key, item in value.items()]
        case SchemaType.ARRAY if schema.value_schema:
            return [as_arrow(schema.value_schema, item) for item in value]
        case SchemaType.STRUCT:
            return {member.name: as_arrow(member.schema, value.get(member.name)) for member in schema.fields}
    return value


def of_arrow(schema: ConnectSchema, value: Any) -> Any:
    """The default for a value of an Arrow column. :raises DataError: the schema has no such default."""
    if value is None:
        return None
    match schema.type:
        case SchemaType.MAP if schema.value_schema:
            if schema.key_schema is None or not schema.key_schema.type.is_primitive:
                raise DataError("a default of a map with such keys is not supported")
            return {key: of_arrow(schema.value_schema, item) for key, item in value}
        case SchemaType.ARRAY if schema.value_schema:
            return tuple(of_arrow(schema.value_schema, item) for item in value)
        case SchemaType.STRUCT:
            return {member.name: of_arrow(member.schema, value[member.name]) for member in schema.fields}
    return value
