"""Schemas as connect-spooldir has them in its configuration: JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.connectors.record_files.types import type_of

_PLAIN = ("BOOLEAN", "INT8", "INT16", "INT32", "INT64", "FLOAT32", "FLOAT64", "STRING")
_LOGICAL = {DATE: "INT32", TIMESTAMP: "INT64", DECIMAL: "BYTES"}
_MEMBERS = ("name", "type", "version", "doc", "parameters", "isOptional", "fieldSchemas")
_CURE = "set `kconnect.hosted=true` to run the Java class"


def schema_in(text: str) -> ConnectSchema:
    """A struct of plain fields.

    :raises ValueError: it is none, or has what is not supported; the text follows the name of the key.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("type") != "STRUCT":
        raise ValueError('is not the JSON of a schema with "type": "STRUCT"')
    _check_members(found, "it")
    if found.get("isOptional"):
        raise ValueError('has "isOptional": true, and records have values: set it to false')
    fields = found.get("fieldSchemas") or {}
    if not isinstance(fields, dict):
        raise ValueError('has no object as "fieldSchemas"')
    members = tuple(Field(name, _field(name, each)) for name, each in fields.items())
    return _schema(SchemaType.STRUCT, found, fields=members)


def types_of(schema: ConnectSchema) -> tuple[tuple[str, str], ...]:
    """The types of fields, by their names, as the files source calls them."""
    return tuple((field.name, _type_of(field.schema)) for field in schema.fields)


def _field(name: str, found: Any) -> ConnectSchema:
    if not isinstance(found, dict):
        raise ValueError(f"has no schema for `{name}`")
    _check_members(found, f"`{name}`")
    type_, logical = found.get("type"), found.get("name")
    if (type_ not in _PLAIN and logical != DECIMAL) or (logical in _LOGICAL and _LOGICAL[logical] != type_):
        said = f"{type_} {logical}" if logical else type_
        raise ValueError(
            f"has `{name}` of type {said}, which is not supported: make it a STRING and cast it in a transformation, "
            f"or {_CURE}"
        )
    schema = _schema(SchemaType[str(type_)], found)
    if (logical or "").startswith("org.apache.kafka.connect.data.") and logical not in _LOGICAL:
        raise ValueError(f"has `{name}` of type {logical}, which is not supported: make it a STRING, or {_CURE}")
    if type_of(_type_of(schema)) is None:
        raise ValueError(f"has `{name}`, a Decimal, with a scale that is not from 0 to 38")
    return schema


def _schema(type_: SchemaType, found: Mapping[str, Any], fields: tuple[Field, ...] = ()) -> ConnectSchema:
    parameters = found.get("parameters")
    return ConnectSchema(
        type_,
        bool(found.get("isOptional")),
        name=found.get("name"),
        version=found.get("version") or (1 if found.get("name") in _LOGICAL else None),
        doc=found.get("doc"),
        parameters={str(name): str(value) for name, value in parameters.items()} if parameters else None,
        fields=fields,
    )


def _type_of(schema: ConnectSchema) -> str:
    if schema.name == DECIMAL:
        return f"decimal({(schema.parameters or {}).get('scale')})"
    return {DATE: "date", TIMESTAMP: "timestamp"}.get(schema.name or "", schema.type.name.lower())


def _check_members(found: Mapping[str, Any], where: str) -> None:
    for name, type_ in (("name", str), ("doc", str), ("version", int), ("isOptional", bool), ("parameters", dict)):
        if not isinstance(found.get(name), type_ | None):
            raise ValueError(f"has {found[name]!r} as {name!r} in {where}")
    if others := [name for name, value in found.items() if name not in _MEMBERS and value is not None]:
        raise ValueError(f"has {others[0]!r} in {where}, which is not supported: leave it out, or {_CURE}")
