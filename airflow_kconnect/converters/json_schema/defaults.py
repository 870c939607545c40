"""Defaults of Connect's schemas: from and to the JSON of a schema, and as values of Arrow columns."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError


def default_of_json(schema: ConnectSchema, node: Any) -> Any:
    """The Python value of a default.

    :param node: its JSON.
    :raises DataError: the schema has no such value.
    """
    from airflow_kconnect.converters.json_schema.read import reader

    value = reader(schema)(json.loads(json.dumps(node), parse_float=Decimal))
    return _of_arrow(schema, value)


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


def _of_arrow(schema: ConnectSchema, value: Any) -> Any:
    if value is None:
        return None
    match schema.type:
        case SchemaType.MAP if schema.value_schema:
            if schema.key_schema is None or not schema.key_schema.type.is_primitive:
                raise DataError("a default of a map with such keys is not supported")
            return {key: _of_arrow(schema.value_schema, item) for key, item in value}
        case SchemaType.ARRAY if schema.value_schema:
            return tuple(_of_arrow(schema.value_schema, item) for item in value)
        case SchemaType.STRUCT:
            return {member.name: _of_arrow(member.schema, value[member.name]) for member in schema.fields}
    return value
