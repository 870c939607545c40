"""What kind of schema a JSON Schema is, as the library decides with which Confluent's registry reads schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from airflow_kconnect.converters.json_schema.documents import Subschema, invalid
from airflow_kconnect.converters.registered.schema_walk import shown


class Kind(StrEnum):
    """The kinds that JsonSchemaData distinguishes, by their keyword or type."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"
    ENUM = "enum"
    CONST = "const"
    ONE_OF = "oneOf"
    ANY_OF = "anyOf"
    ALL_OF = "allOf"
    REFERENCE = "$ref"
    OTHER = "other"

    @property
    def is_combined(self) -> bool:
        return self in _COMBINED


_COMBINED = (Kind.ONE_OF, Kind.ANY_OF, Kind.ALL_OF)
_TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
_HINTS = (
    (Kind.OBJECT, ("properties", "required", "additionalProperties", "minProperties", "maxProperties")),
    (Kind.OBJECT, ("patternProperties", "propertyNames", "dependencies")),
    (Kind.ARRAY, ("items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")),
    (Kind.NUMBER, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
    (Kind.STRING, ("minLength", "maxLength", "pattern", "format")),
)


@dataclass(frozen=True)
class Part:
    """One kind of schema.

    :param subschema: its JSON; only the keywords of the kind are looked at.
    :param notes: title, default, ``connect.type`` and so on; empty if they belong to the whole of several parts.
    :param members: of oneOf, anyOf and allOf, those that are combined themselves first.
    """

    kind: Kind
    subschema: Subschema
    notes: Mapping[str, Any]
    members: tuple[Part, ...] = ()

    @property
    def has_format(self) -> bool:
        return self.kind is Kind.STRING and "format" in self.subschema.node


def parse(subschema: Subschema) -> Part:
    """The kind of a schema. What combines several kinds is an allOf of them.

    :raises DataError: it is not a JSON schema.
    """
    node = subschema.node
    if isinstance(node, bool):
        return Part(Kind.OTHER, subschema, {})
    if not isinstance(node, dict):
        raise invalid(f"expected a schema, found {shown(node)}")
    if "$ref" in node:
        return _reference(subschema)
    parts = list(_parts(subschema))
    if len(parts) == 1:
        return Part(parts[0].kind, subschema, node, parts[0].members)
    return Part(Kind.ALL_OF, subschema, node, _ordered(parts)) if parts else Part(Kind.OTHER, subschema, node)


def properties(part: Part) -> dict[str, Subschema]:
    """The properties of an object.

    :raises DataError: they are not an object.
    """
    nodes = part.subschema.node.get("properties", {})
    if not isinstance(nodes, dict):
        raise invalid(f"`properties` is not an object: {shown(nodes)}")
    return {name: part.subschema.below(node) for name, node in nodes.items()}


def required(part: Part) -> frozenset[str]:
    """The names of an object's required properties."""
    listed = part.subschema.node.get("required", [])
    # In draft 3 it is a boolean of the property.
    return frozenset(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else frozenset()


def _reference(subschema: Subschema) -> Part:
    """A reference; with properties next to it, as drafts since 2019-09 allow, all of both."""
    reference = Part(Kind.REFERENCE, subschema, subschema.node)
    if "properties" not in subschema.node:
        return reference
    return Part(Kind.ALL_OF, subschema, subschema.node, (reference, Part(Kind.OBJECT, subschema, {})))


def _parts(subschema: Subschema) -> Iterator[Part]:
    node = subschema.node
    if "enum" in node:
        yield Part(Kind.ENUM, subschema, {})
    for kind in _COMBINED:
        if kind in node:
            yield Part(
                kind, subschema, {}, _ordered([parse(subschema.below(member)) for member in _listed(node, kind)])
            )
    if "not" in node or "if" in node:
        yield Part(Kind.OTHER, subschema, {})
    if "const" in node:
        yield Part(Kind.CONST, subschema, {})
    types = _types(node)
    if isinstance(node.get("type"), list) and len(types) != 1:
        yield Part(Kind.ANY_OF, subschema, {}, tuple(Part(kind, subschema, {}) for kind in types))
    else:
        yield from (Part(kind, subschema, {}) for kind in types)


def _types(node: dict[str, Any]) -> list[Kind]:
    """The types of a schema, or those whose keywords it has."""
    if "type" not in node:
        kinds = dict.fromkeys(kind for kind, keywords in _HINTS if any(keyword in node for keyword in keywords))
        return list(kinds)
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if not types or not all(isinstance(type_, str) and type_ in _TYPES for type_ in types):
        raise invalid(f"unknown type: {shown(node['type'])}")
    return [Kind(type_) for type_ in types]


def _listed(node: dict[str, Any], keyword: str) -> list[Any]:
    schemas = node[keyword]
    if not isinstance(schemas, list) or not schemas:
        raise invalid(f"`{keyword}` is not a list of schemas: {shown(schemas)}")
    return schemas


def _ordered(parts: list[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: not part.kind.is_combined))
