"""Connect's schemas: what Spark's types cannot express (optional, default, name, version, doc, parameters)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class SchemaType(StrEnum):
    """The types of ``org.apache.kafka.connect.data.Schema.Type``; values as JsonConverter writes them."""

    BOOLEAN = "boolean"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BYTES = "bytes"
    STRING = "string"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    @property
    def is_primitive(self) -> bool:
        return self not in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


DECIMAL = "org.apache.kafka.connect.data.Decimal"
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"


@dataclass(frozen=True)
class Field:
    """A named member of a struct schema."""

    name: str
    schema: ConnectSchema


@dataclass(frozen=True)
class ConnectSchema:
    """One schema, as ``org.apache.kafka.connect.data.Schema``.

    :param type: its type.
    :param optional: whether null is a legal value.
    :param default: the value used in place of null; None means "no default".
    :param name: logical or record name, such as ``org.apache.kafka.connect.data.Timestamp``.
    :param version: version of the name.
    :param doc: free text.
    :param parameters: string map, for example the scale of a Decimal.
    :param fields: members, in order (STRUCT only).
    :param key_schema: schema of the keys (MAP only).
    :param value_schema: schema of the elements (ARRAY) or values (MAP).
    """

    type: SchemaType
    optional: bool = False
    default: Any = field(default=None, hash=False)  # for a struct it is a dict
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] | None = field(default=None, hash=False)
    fields: tuple[Field, ...] = ()
    key_schema: ConnectSchema | None = None
    value_schema: ConnectSchema | None = None

    def as_optional(self) -> ConnectSchema:
        """The same schema, with null allowed."""
        return replace(self, optional=True)

    def field(self, name: str) -> Field | None:
        """The member of that name, or None."""
        return next((member for member in self.fields if member.name == name), None)


def struct(*fields: tuple[str, ConnectSchema], name: str | None = None, optional: bool = False) -> ConnectSchema:
    """A STRUCT schema of (field name, schema) pairs, in order."""
    members = tuple(Field(member, schema) for member, schema in fields)
    return ConnectSchema(SchemaType.STRUCT, optional=optional, name=name, fields=members)


BOOLEAN_SCHEMA = ConnectSchema(SchemaType.BOOLEAN)
INT32_SCHEMA = ConnectSchema(SchemaType.INT32)
INT64_SCHEMA = ConnectSchema(SchemaType.INT64)
FLOAT64_SCHEMA = ConnectSchema(SchemaType.FLOAT64)
STRING_SCHEMA = ConnectSchema(SchemaType.STRING)
BYTES_SCHEMA = ConnectSchema(SchemaType.BYTES)
DATE_SCHEMA = ConnectSchema(SchemaType.INT32, name=DATE, version=1)
TIME_SCHEMA = ConnectSchema(SchemaType.INT32, name=TIME, version=1)
TIMESTAMP_SCHEMA = ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1)
OPTIONAL_STRING_SCHEMA = STRING_SCHEMA.as_optional()
OPTIONAL_BYTES_SCHEMA = BYTES_SCHEMA.as_optional()


def decimal_schema(scale: int) -> ConnectSchema:
    """Of decimals. :param scale: digits after the point."""
    return ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": str(scale)})


@dataclass(frozen=True)
class Shape:
    """The form of some rows of a record part: a schema, or None for schemaless data."""

    schema: ConnectSchema | None = None

    @property
    def schemaless(self) -> bool:
        return self.schema is None


SCHEMALESS = Shape(None)
