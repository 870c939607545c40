"""Connect schemas to and from the JSON objects that JsonConverter writes into its envelopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.values import BASE64, from_json_value, to_json_value
from airflow_kconnect.converters.types import DEPTH_MAX, SCHEMAS_MAX, decimal_scale, has_map, logical_name
from airflow_kconnect.java_text.json import canonical_json


def schema_text(schema: ConnectSchema | None, decimal_format: str = BASE64) -> str:
    """The compact JSON text of a schema, as JsonConverter writes it; ``null`` for schemaless data."""
    return canonical_json(None if schema is None else to_json_schema(schema, decimal_format))


def to_json_schema(schema: ConnectSchema, decimal_format: str = BASE64) -> dict[str, Any]:
    """The JSON object of a schema, members in the order in which JsonConverter writes them."""
    members = {
        "optional": schema.optional,
        "name": schema.name,
        "version": schema.version,
        "doc": schema.doc,
        "parameters": None if schema.parameters is None else dict(schema.parameters),
        "default": None if schema.default is None else to_json_value(schema, schema.default, decimal_format),
    }
    present = {name: value for name, value in members.items() if value is not None}
    return {"type": schema.type.value, **_children(schema, decimal_format), **present}


def _children(schema: ConnectSchema, decimal_format: str) -> dict[str, Any]:
    def child(of: ConnectSchema | None) -> dict[str, Any] | None:
        return None if of is None else to_json_schema(of, decimal_format)

    match schema.type:
        case SchemaType.ARRAY:
            return {"items": child(schema.value_schema)}
        case SchemaType.MAP:
            return {"keys": child(schema.key_schema), "values": child(schema.value_schema)}
        case SchemaType.STRUCT:
            fields = [{**to_json_schema(f.schema, decimal_format), "field": f.name} for f in schema.fields]
            return {"fields": fields}
        case _:
            return {}


def from_json_schema(node: Any) -> ConnectSchema | None:
    """The schema that a JSON object describes; null is "no schema". Unknown members are ignored.

    :raises DataError: it does not describe a schema, or the schema is too large for a Spark plan.
    """
    _check_size(node)
    return _schema(node)


def _check_size(node: Any) -> None:
    """Schemas come with records: one that is too large for a plan is an error of the record, not the end of the run."""
    count, level = 0, [node]
    for _ in range(DEPTH_MAX):
        count += len(level)
        level = [child for parent in level for child in _nodes_below(parent)]
        if count > SCHEMAS_MAX:
            raise DataError(f"Schema has more than {SCHEMAS_MAX:,} fields")
        if not level:
            return
    raise DataError(f"Schema nests more than {DEPTH_MAX} levels")


def _nodes_below(node: Any) -> list[Any]:
    if not isinstance(node, dict):
        return []
    fields = node.get("fields")
    below = [node.get("items"), node.get("keys"), node.get("values"), *(fields if isinstance(fields, list) else ())]
    return [child for child in below if isinstance(child, dict)]


def _schema(node: Any) -> ConnectSchema | None:
    if node is None:
        return None
    type_name = node.get("type") if isinstance(node, dict) else None
    if not isinstance(type_name, str):
        raise DataError("Schema must contain 'type' field")
    if type_name not in set(SchemaType):
        raise DataError(f"Unknown schema type: {type_name}")
    schema = ConnectSchema(
        SchemaType(type_name),
        optional=node.get("optional") is True,
        name=_of_type(node.get("name"), str),
        version=_of_type(node.get("version"), int),
        doc=_of_type(node.get("doc"), str),
        parameters=_parameters(node.get("parameters")),
        **_read_children(SchemaType(type_name), node),
    )
    return _with_default(schema, node)


def _of_type(value: Any, type_: type) -> Any:
    return value if type(value) is type_ else None


def _parameters(node: Any) -> Mapping[str, str] | None:
    if not isinstance(node, dict) or not node:
        return None
    if not all(isinstance(value, str) for value in node.values()):
        raise DataError("Schema parameters must have string values.")
    return node


def _read_children(type_: SchemaType, node: dict[str, Any]) -> dict[str, Any]:
    match type_:
        case SchemaType.ARRAY:
            return {"value_schema": _child(node, "items", "Array schema did not specify the element type")}
        case SchemaType.MAP:
            keys = _child(node, "keys", "Map schema did not specify the key type")
            if has_map(keys):
                raise DataError("Maps as keys of a map are not supported")
            values = _child(node, "values", "Map schema did not specify the value type")
            return {"key_schema": keys, "value_schema": values}
        case SchemaType.STRUCT:
            if not isinstance(node.get("fields"), list):
                raise DataError('Struct schema\'s "fields" argument is not an array.')
            return {"fields": _fields(node["fields"])}
        case _:
            return {}


def _child(node: dict[str, Any], member: str, missing: str) -> ConnectSchema:
    schema = _schema(node.get(member))
    if schema is None:
        raise DataError(missing)
    return schema


def _fields(nodes: list[Any]) -> tuple[Field, ...]:
    fields = tuple(map(_field, nodes))
    seen: set[str] = set()
    for field in fields:
        if field.name in seen:
            raise DataError(f"Cannot create field because of field name duplication {field.name}")
        seen.add(field.name)
    return fields


def _field(node: Any) -> Field:
    name = node.get("field") if isinstance(node, dict) else None
    schema = _schema(node)
    if not isinstance(name, str) or not name or schema is None:
        raise DataError("Struct schema's field name not specified properly")
    return Field(name, schema)


def _with_default(schema: ConnectSchema, node: dict[str, Any]) -> ConnectSchema:
    if logical_name(schema) == DECIMAL:
        decimal_scale(schema)
    if "default" not in node:
        return schema
    return replace(schema, default=from_json_value(schema, node["default"]))
