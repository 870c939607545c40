"""An Avro schema as a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class AvroType(StrEnum):
    """Types of Avro schemas. A REFERENCE is the use of a type within its own definition."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    RECORD = "record"
    ENUM = "enum"
    ARRAY = "array"
    MAP = "map"
    UNION = "union"
    FIXED = "fixed"
    REFERENCE = "reference"


PRIMITIVES = frozenset(list(AvroType)[:8])
NAMED = (AvroType.RECORD, AvroType.ENUM, AvroType.FIXED)
NO_DEFAULT = object()


@dataclass(frozen=True, eq=False)
class AvroField:
    """A field of a record.

    :param default: its JSON value, or `NO_DEFAULT`.
    """

    name: str
    schema: AvroSchema
    doc: str | None = None
    default: Any = NO_DEFAULT
    aliases: tuple[str, ...] = ()
    props: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AvroSchema:
    """A schema.

    :param name: full name (RECORD, ENUM, FIXED, REFERENCE).
    :param props: all attributes that are not Avro's own, ``logicalType`` for instance.
    :param default: default symbol (ENUM).
    :param items: schema of elements (ARRAY) or values (MAP).
    """

    type: AvroType
    name: str | None = None
    doc: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[AvroField, ...] = ()
    symbols: tuple[str, ...] = ()
    default: str | None = None
    size: int = 0
    items: AvroSchema | None = None
    branches: tuple[AvroSchema, ...] = ()

    @property
    def logical_type(self) -> str | None:
        """The attribute ``logicalType`` in lower case: AvroData compares it so."""
        value = self.props.get("logicalType")
        return value.lower() if isinstance(value, str) else None

    @property
    def item_schema(self) -> AvroSchema:
        """Schema of elements or values of an ARRAY or MAP."""
        assert self.items is not None
        return self.items


@dataclass(frozen=True, eq=False)
class AvroDocument:
    """A parsed schema text.

    :param named: full name -> type, for all named types in it and in what it refers to.
    """

    root: AvroSchema
    named: Mapping[str, AvroSchema]
