"""The JSON Schema of a Connect schema, as JsonSchemaData's ``fromConnectSchema`` makes it.

Registries compare texts of schemas, so members have the order in which Confluent's converter prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.values import NUMERIC
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.defaults import as_arrow
from airflow_kconnect.converters.json_schema.write import writer
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.java_text.json import canonical_json

_NUMBERS = {
    SchemaType.INT8: ("integer", "int8"),
    SchemaType.INT16: ("integer", "int16"),
    SchemaType.INT32: ("integer", "int32"),
    SchemaType.INT64: ("integer", "int64"),
    SchemaType.FLOAT32: ("number", "float32"),
    SchemaType.FLOAT64: ("number", "float64"),
}
NULL = {"type": "null"}


class FromConnect:
    """Converts one schema."""

    def __init__(self, settings: JsonSchemaSettings) -> None:
        self._settings = settings

    def text(self, schema: ConnectSchema) -> str:
        """The text of the JSON Schema to register for data of a Connect schema.

        :raises DataError: there is none for it.
        """
        return canonical_json(self.schema(schema))

    def schema(self, schema: ConnectSchema, index: int | None = None, *, in_union: bool = False) -> Any:
        """The JSON of a schema.

        :param index: of the field whose schema it is.
        :param in_union: null is already a branch of the union around it.
        """
        own = {} if index is None else {names.INDEX: index}
        if names.is_union(schema):
            return own | {"oneOf": self._branches(schema)}
        if schema.optional and not in_union:
            return own | {"oneOf": [NULL, self.schema(replace(schema, optional=False))]}
        return self._plain(schema, own)

    def _plain(self, schema: ConnectSchema, own: dict[str, Any]) -> dict[str, Any]:
        """Of what is neither a union nor optional.

        :param own: what is known of it besides.
        """
        type_, connect_type, below = self._parts(schema)
        notes = own | ({} if connect_type is None else {names.TYPE: connect_type}) | self._notes(schema)
        return type_ | self._annotations(schema) | self._ordered(notes) | below

    def _ordered(self, notes: dict[str, Any]) -> dict[str, Any]:
        return in_order_of_java(notes)

    def _branches(self, union: ConnectSchema) -> list[Any]:
        null = [NULL] if union.optional else []
        return null + [
            self.schema(replace(member.schema, optional=False), index, in_union=True)
            for index, member in enumerate(union.fields)
        ]

    def _parts(self, schema: ConnectSchema) -> tuple[dict[str, Any], str | None, dict[str, Any]]:
        """Its type, ``connect.type``, and what is within it."""
        if schema.type in _NUMBERS:
            type_, connect_type = _NUMBERS[schema.type]
            return {"type": type_}, connect_type, {}
        match schema.type:
            case SchemaType.BOOLEAN:
                return {"type": "boolean"}, None, {}
            case SchemaType.BYTES:
                is_number = schema.name == DECIMAL and self._settings.decimal_format == NUMERIC
                return {"type": "number" if is_number else "string"}, names.BYTES, {}
            case SchemaType.STRING:
                symbols = self._symbols(schema)
                return ({"type": "string"}, None, {}) if symbols is None else ({}, None, {"enum": symbols})
            case SchemaType.ARRAY:
                assert schema.value_schema is not None
                return {"type": "array"}, None, {"items": self.schema(schema.value_schema)}
            case SchemaType.MAP:
                return self._map(schema)
        return {"type": "object"}, None, self._members(schema)

    def _symbols(self, schema: ConnectSchema) -> list[str | None] | None:
        """The symbols of an enum; None if it is a plain string."""
        given = schema.parameters or {}
        if sums.ENUM not in given and names.ENUM not in given:
            return None
        generalized = self._settings.generalized_sum_type_support
        prefix = f"{sums.ENUM if generalized else names.ENUM}."
        symbols = [key.removeprefix(prefix) for key in given if key.startswith(prefix)]
        return [None if symbol == names.NULL_MARKER else symbol for symbol in symbols] or None

    def _map(self, schema: ConnectSchema) -> tuple[dict[str, Any], str, dict[str, Any]]:
        keys, values = schema.key_schema, schema.value_schema
        assert keys is not None and values is not None
        if names.has_string_keys(schema):
            return {"type": "object"}, names.MAP, {"additionalProperties": self.schema(values)}
        entry = in_order_of_java({names.KEY: self.schema(keys, 0), names.VALUE: self.schema(values, 1)})
        return {"type": "array"}, names.MAP, {"items": {"type": "object", "properties": entry}}

    def _members(self, schema: ConnectSchema) -> dict[str, Any]:
        members = {member.name: self.schema(member.schema, index) for index, member in enumerate(schema.fields)}
        keywords: dict[str, Any] = {"properties": in_order_of_java(members)} if members else {}
        return keywords if self._settings.object_additional_properties else keywords | {"additionalProperties": False}

    def _annotations(self, schema: ConnectSchema) -> dict[str, Any]:
        keywords: dict[str, Any] = {}
        if schema.name is not None:
            keywords["title"] = schema.name
        if schema.doc is not None:
            keywords["description"] = schema.doc
        if schema.default is not None:
            keywords["default"] = self._default(schema)
        return keywords

    def _notes(self, schema: ConnectSchema) -> dict[str, Any]:
        notes: dict[str, Any] = {}
        if schema.version is not None:
            notes[names.VERSION] = schema.version
        given = {key: value for key, value in (schema.parameters or {}).items() if not key.startswith(names.NAMESPACE)}
        if given:
            notes[names.PARAMETERS] = in_order_of_java(given)
        return notes

    def _default(self, schema: ConnectSchema) -> Any:
        try:
            return writer(schema, self._settings)(as_arrow(schema, schema.default))
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise DataError(f"A default of type {schema.type.name} is not a value of that type") from error


def in_order_of_java(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members in the order of a ``java.util.HashMap``, in which Confluent's converter prints them."""
    size = 16
    while len(members) > size * 3 // 4:
        size *= 2
    return in_buckets(members, size)


def in_buckets(members: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Members in the order of a ``java.util.HashMap`` of that size."""
    return dict(sorted(members.items(), key=lambda member: _spread(member[0]) % size))


def _spread(text: str) -> int:
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in _pairs(units):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value ^ value >> 16


def _pairs(units: bytes) -> Iterable[tuple[int, int]]:
    return zip(units[::2], units[1::2], strict=True)
