"""Which member of a union a JSON value belongs to, as JsonSchemaData chooses."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.json_schema import names


def chosen(members: Sequence[ConnectSchema], node: Any) -> int | None:
    """The first member of a fitting type, else the struct that shares most properties with an object.

    Where Confluent's converter finds no member, base64 may be that of bytes, and the value may be of a union within
    this one.

    :param node: a JSON value other than null.
    :returns: index of the member; None if the value belongs to none. An object that shares no property with any struct
        belongs to none: as one of them it would be empty.
    """
    for index, member in enumerate(members):
        if _fits(member, node):
            return index
    shared = [_shared(member, node) for member in members]
    if any(shared):
        return shared.index(max(shared))
    return next((index for index, member in enumerate(members) if _may_hold(member, node)), None)


def _fits(schema: ConnectSchema, node: Any) -> bool:
    match schema.type:
        case SchemaType.INT8 | SchemaType.INT16 | SchemaType.INT32 | SchemaType.INT64:
            return type(node) is int
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            return type(node) is int or isinstance(node, Decimal)
        case SchemaType.BOOLEAN:
            return isinstance(node, bool)
        case SchemaType.STRING:
            return isinstance(node, str)
        case SchemaType.BYTES:
            return isinstance(node, Decimal)
        case SchemaType.ARRAY:
            return isinstance(node, list)
        case SchemaType.MAP:
            return isinstance(node, dict | list)
    return False


def _shared(schema: ConnectSchema, node: Any) -> int:
    """How many properties an object shares with a struct, also within them."""
    if schema.type is not SchemaType.STRUCT or not isinstance(node, dict):
        return 0
    known = (member for member in schema.fields if member.name in node)
    return sum(1 + _shared(member.schema, node[member.name]) for member in known)


def _may_hold(schema: ConnectSchema, node: Any) -> bool:
    if names.is_union(schema):
        return chosen([member.schema for member in schema.fields], node) is not None
    return schema.type is SchemaType.BYTES and isinstance(node, str)
