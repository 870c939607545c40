"""Members of the structs in DuckDB's columns, by their paths: in lists they are below `element`, in maps below `value`.

DuckDB silently drops what a struct of a table does not have, so the sink has to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connectors.jdbc.sink.definitions import MemberPath

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType


def schema_members(schema: ConnectSchema, path: MemberPath) -> Iterator[tuple[MemberPath, ConnectSchema]]:
    """The members that values of a schema have, outer ones first."""
    match schema.type:
        case SchemaType.STRUCT:
            for field in schema.fields:
                yield (*path, field.name), field.schema
                yield from schema_members(field.schema, (*path, field.name))
        case SchemaType.ARRAY if schema.value_schema is not None:
            yield from schema_members(schema.value_schema, (*path, "element"))
        case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
            yield from schema_members(schema.key_schema, (*path, "key"))
            yield from schema_members(schema.value_schema, (*path, "value"))


def members(type_: DuckDBPyType, path: MemberPath) -> Iterator[MemberPath]:
    """The members that a column's type has."""
    if type_.id not in ("struct", "list", "array", "map"):
        return
    children: Any = type_.children
    for name, inner in children:
        match type_.id:
            case "struct":
                yield (*path, name)
                yield from members(inner, (*path, name))
            case "map":
                yield from members(inner, (*path, name))
            case _ if name != "size":
                yield from members(inner, (*path, "element"))


def has_empty_struct(schema: ConnectSchema) -> bool:
    """Whether there is a struct without members in it, of which DuckDB has no type."""
    if schema.type is SchemaType.STRUCT and not schema.fields:
        return True
    inner = (*(field.schema for field in schema.fields), schema.key_schema, schema.value_schema)
    return any(part is not None and has_empty_struct(part) for part in inner)
