"""JSON Schemas to and from Connect as Amazon's converter of AWS Glue's registry makes them.

Source: ``JsonSchemaToConnectSchemaConverter`` and ``ConnectSchemaToJsonSchemaConverter``. What these refuse by mistake,
such as members of a union that are null, is as in Confluent's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.from_connect import NULL, FromConnect, in_buckets, in_order_of_java
from airflow_kconnect.converters.json_schema.parsing import Part
from airflow_kconnect.converters.json_schema.to_connect import ToConnect
from airflow_kconnect.java_text.json import canonical_json

NAMESPACE = "com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema"
META_DATA = "connect.meta.data"

_ENUM = f"{NAMESPACE}.Enum"
_NAME, _DOC = "connect.name", "connect.doc"


@dataclass(frozen=True)
class GlueJsonSettings(JsonSchemaSettings):
    """Values of the keys of Amazon's converter."""

    nulls_left_out: bool = True
    connect_meta_data: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        return replace(cls(decimal_format=values["decimal.format"].upper()), connect_meta_data=values[META_DATA])


class GlueToConnect(ToConnect):
    """Names and documentation are in keywords of their own, and defaults are not read."""

    title, description = _NAME, _DOC
    enum, union, member, first = _ENUM, names.GLUE_ONE_OF, names.GLUE_MEMBER, 1

    def _number(self, part: Part) -> SchemaType:
        """A number without ``connect.type`` is a double, whole or not."""
        return SchemaType.FLOAT64 if names.TYPE not in part.notes else super()._number(part)

    def _default(self, schema: ConnectSchema, part: Part) -> Any:
        return None


class GlueFromConnect(FromConnect):
    """The texts have to be Amazon's, as versions are found by them.

    Equal schemas within the same struct, array or map share what was made for the first of them, its index too.
    """

    def __init__(self, settings: GlueJsonSettings) -> None:
        super().__init__(settings)
        self._own_settings = settings
        self._made: dict[ConnectSchema, Any] = {}

    def _inner(self) -> GlueFromConnect:
        """For what is within a struct, array or map."""
        return GlueFromConnect(self._own_settings)

    def schema(self, schema: ConnectSchema, index: int | None = None, *, in_union: bool = False) -> Any:
        if schema not in self._made:
            self._made[schema] = self._of(schema, {} if index is None else {names.INDEX: index})
        return self._made[schema]

    def _of(self, schema: ConnectSchema, own: dict[str, Any]) -> Any:
        if names.is_union(schema):
            return own | {"oneOf": self._inner()._branches(schema)}
        if not schema.optional:
            return self._plain(schema, own)
        plain = replace(schema, optional=False)
        if schema.type is SchemaType.STRUCT:
            return own | {"oneOf": [NULL, self._inner().schema(plain)]}
        return own | {"oneOf": [self._plain(plain, own), NULL]}

    def _parts(self, schema: ConnectSchema) -> tuple[dict[str, Any], str | None, dict[str, Any]]:
        type_, connect_type, below = FromConnect._parts(self._inner(), schema)
        if schema.type is SchemaType.BOOLEAN:
            return {}, connect_type, type_
        return (below, connect_type, {}) if "enum" in below else (type_, connect_type, below)

    def _map(self, schema: ConnectSchema) -> tuple[dict[str, Any], str, dict[str, Any]]:
        keys, values = schema.key_schema, schema.value_schema
        if keys is None or values is None or names.has_string_keys(schema):
            return super()._map(schema)
        entry = in_order_of_java({names.KEY: self.schema(keys), names.VALUE: self.schema(values)})
        return {"type": "array"}, names.MAP, {"items": {"type": "object", "properties": entry}}

    def _ordered(self, notes: dict[str, Any]) -> dict[str, Any]:
        """In the order of a copy, which is only as large as it has to be."""
        enough = int(len(notes) / 0.75 + 1)
        return in_buckets(super()._ordered(notes), 1 << (enough - 1).bit_length())

    def _symbols(self, schema: ConnectSchema) -> list[str | None] | None:
        given = schema.parameters or {}
        symbols = (value for key, value in given.items() if key.startswith(f"{_ENUM}."))
        return list(in_order_of_java(dict.fromkeys(symbols))) or None

    def _annotations(self, schema: ConnectSchema) -> dict[str, Any]:
        if schema.default is None or not self._own_settings.connect_meta_data:
            return {}
        default = self._default(schema)
        is_plain = schema.name is None and schema.type is not SchemaType.BYTES
        return {"default": default if is_plain else canonical_json(default)}

    def _notes(self, schema: ConnectSchema) -> dict[str, Any]:
        if not self._own_settings.connect_meta_data:
            return {}
        given = {key: value for key, value in (schema.parameters or {}).items() if not key.startswith(NAMESPACE)}
        notes = {
            _DOC: schema.doc,
            names.VERSION: schema.version,
            _NAME: schema.name,
            names.PARAMETERS: in_order_of_java(given) or None,
        }
        return {name: note for name, note in notes.items() if note is not None}
