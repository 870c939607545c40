"""Names that JsonSchemaData gives to types, properties and parameters.

Source: ``io.confluent.connect.json.JsonSchemaData``.
"""

from __future__ import annotations

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.registered import sums

NAMESPACE = "io.confluent.connect.json"
ENUM = f"{NAMESPACE}.Enum"
ONE_OF = f"{NAMESPACE}.OneOf"
GLUE_ONE_OF, GLUE_MEMBER = "oneOf", "field"
"""Of Amazon's converter, whose members are counted from 1."""
NULL_MARKER = "<NULL>"
"""Stands for null among the symbols of an enum."""


TYPE = "connect.type"
INDEX = "connect.index"
VERSION = "connect.version"
PARAMETERS = "connect.parameters"
MAP = "map"
BYTES = "bytes"
KEY, VALUE = "key", "value"


def is_union(schema: ConnectSchema) -> bool:
    """Whether a struct stands for a union: it has an optional member for each branch."""
    if schema.type is not SchemaType.STRUCT:
        return False
    return schema.name == ONE_OF or sums.UNION in (schema.parameters or {}) or _is_amazons(schema)


def _is_amazons(union: ConnectSchema) -> bool:
    members = enumerate(union.fields, 1)
    return union.name == GLUE_ONE_OF and all(member.name == f"{GLUE_MEMBER}{number}" for number, member in members)


def has_string_keys(schema: ConnectSchema) -> bool:
    """Whether a MAP is a JSON object; other maps are arrays of objects with key and value."""
    keys = schema.key_schema
    return keys is not None and keys.type is SchemaType.STRING and not keys.optional
