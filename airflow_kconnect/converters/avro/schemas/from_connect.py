"""The Avro schema of a Connect schema, as AvroData's ``fromConnectSchema`` makes it, as Avro's Java library prints it.

Registries compare texts of schemas, so attributes have the order in which AvroData adds them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.attributes import annotated, decimal_properties, parameters
from airflow_kconnect.converters.avro.schemas.defaults import InvalidDefault, default_to_avro, writes_avro_map
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.java_text.json import canonical_json

_PLAIN = {
    SchemaType.INT8: "int",
    SchemaType.INT16: "int",
    SchemaType.INT32: "int",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_NAMED = ("record", "enum", "fixed")
_SHAPE_PARAMETERS = (names.FIXED_SIZE, names.PRECISION, "scale", names.ENUM, sums.ENUM)
_NO_NAMESPACE = ""


def avro_schema_text(schema: ConnectSchema, settings: AvroSettings) -> str:
    """The text of the Avro schema to register for data of a Connect schema.

    :raises DataError: there is no valid Avro schema for it.
    """
    return canonical_json(_FromConnect(settings).schema(schema, _NO_NAMESPACE))


class _FromConnect:
    """Creates the types in the order of their text: a named type is defined where it is first used."""

    def __init__(self, settings: AvroSettings) -> None:
        self._settings = settings
        self._unnamed = 0
        self._names_of_structs: dict[ConnectSchema, str] = {}
        self._defined: dict[str, Any] = {}
        self._seen: set[str] = set()

    def schema(self, schema: ConnectSchema, namespace: str, *, ignore_optional: bool = False) -> Any:
        """The JSON of a schema.

        :param namespace: of the type around it.
        :param ignore_optional: null is already a branch of the union around it.
        """
        if names.is_union(schema):
            return self._union(schema, namespace)
        is_struct = schema.type is SchemaType.STRUCT
        base = self._base(replace(schema, optional=False) if is_struct else schema, namespace)
        if not schema.optional or ignore_optional:
            return base
        return [base, "null"] if schema.default is not None and not is_struct else ["null", base]

    def _union(self, schema: ConnectSchema, namespace: str) -> Any:
        members = [replace(member.schema, optional=False) for member in schema.fields]
        branches = [self.schema(member, namespace, ignore_optional=True) for member in members]
        kinds = [_kind(branch) for branch in branches]
        if len(set(kinds)) < len(kinds):
            raise DataError(
                f"Duplicate in union: two members of {schema.name} have the same Avro type; if one is an enum, set "
                "`enhanced.avro.schema.support` to true"
            )
        return ["null", *branches] if schema.optional else branches

    def _base(self, schema: ConnectSchema, namespace: str) -> Any:
        """Without null."""
        match schema.type:
            case SchemaType.STRUCT:
                return self._struct(schema, namespace)
            case SchemaType.ARRAY:
                assert schema.value_schema is not None
                node = {"type": "array", "items": self.schema(schema.value_schema, namespace)}
                return annotated(schema, node, self._settings)
            case SchemaType.MAP:
                return annotated(schema, self._map(schema, namespace), self._settings)
            case SchemaType.STRING if (enum := self._enum_parameter(schema)) is not None:
                return self._enum(schema, enum, namespace)
            case SchemaType.BYTES if names.is_fixed(schema):
                return self._fixed(schema, namespace)
        return self._primitive(schema)

    def _primitive(self, schema: ConnectSchema) -> Any:
        node: dict[str, Any] = {"type": _PLAIN[schema.type], **decimal_properties(schema)}
        annotated(schema, node, self._settings)
        return node["type"] if node.keys() == {"type"} else node

    # Named types

    def _struct(self, schema: ConnectSchema, namespace: str) -> Any:
        known = self._names_of_structs.get(schema)
        full_name = known or self._full_name(schema.name)
        if self._is_defined(full_name, schema):
            return _reference(full_name, namespace)
        self._names_of_structs[schema] = full_name
        given, discard = schema.parameters or {}, self._settings.discard_type_doc_default
        doc = given.get(names.TYPE_RECORD_DOC if discard else names.RECORD_DOC)
        node = _named("record", full_name, namespace, doc)
        inner = names.split_name(full_name)[0] or _NO_NAMESPACE
        node["fields"] = [
            self._field(self._member_name(member), member, given.get(names.FIELD_DOC + member.name), inner)
            for member in schema.fields
        ]
        duplicates = {field["name"] for field in node["fields"]}
        if len(duplicates) < len(schema.fields):
            raise DataError(f"Two fields of {full_name} have the same name in Avro: rename one of them")
        return annotated(schema, node, self._settings)

    def _member_name(self, member: Field) -> str:
        name = names.scrubbed(member.name) if self._settings.scrub_invalid_names else member.name
        if not names.is_valid_name(name):
            raise DataError(
                f"Field {member.name!r} has a name that Avro does not allow: set `scrub.invalid.names` to true, or "
                "rename it"
            )
        return name

    def _field(self, name: str, member: Field, doc: str | None, namespace: str) -> dict[str, Any]:
        schema, discard = member.schema, self._settings.discard_type_doc_default
        seen = schema.name is not None and schema.name in self._seen
        if schema.name is not None:
            self._seen.add(schema.name)
        type_ = self.schema(schema, namespace)
        node: dict[str, Any] = {"name": name, "type": type_}
        doc = schema.doc if discard else doc
        if doc is not None:
            node["doc"] = doc
        node.update(self._field_default(schema))
        if seen and self._settings.connect_meta_data and _is_named(type_, self._defined, namespace):
            node.update(parameters(schema, self._settings))
        return node

    def _field_default(self, schema: ConnectSchema) -> dict[str, Any]:
        """As in AvroData, defaults that Avro does not allow are left out."""
        if schema.default is None:
            return {"default": None} if schema.optional else {}
        if schema.type is SchemaType.MAP and not writes_avro_map(schema, self._settings):
            return {}
        try:
            return {"default": default_to_avro(schema, schema.default, self._settings)}
        except InvalidDefault:
            return {}

    def _map(self, schema: ConnectSchema, namespace: str) -> dict[str, Any]:
        keys, values = schema.key_schema, schema.value_schema
        assert keys is not None and values is not None
        if writes_avro_map(schema, self._settings):
            return {"type": "map", "values": self.schema(values, namespace)}
        entry = f"{names.NAMESPACE}.{names.MAP_ENTRY}" if schema.name is None else self._full_name(schema.name)
        if self._is_defined(entry, schema):
            return {"type": "array", "items": _reference(entry, namespace)}
        node = _named("record", entry, namespace, None)
        inner = names.split_name(entry)[0] or _NO_NAMESPACE
        members = (Field("key", keys), Field("value", values))
        node["fields"] = [self._field(member.name, member, None, inner) for member in members]
        if schema.name is not None:
            node["connect.internal.type"] = names.MAP_ENTRY
        return {"type": "array", "items": node}

    def _enum_parameter(self, schema: ConnectSchema) -> str | None:
        settings = self._settings
        if not (settings.generalized_sum_type_support or settings.enhanced_avro_schema_support):
            return None
        parameter = sums.ENUM if settings.generalized_sum_type_support else names.ENUM
        return parameter if parameter in (schema.parameters or {}) else None

    def _enum(self, schema: ConnectSchema, parameter: str, namespace: str) -> Any:
        parameters = schema.parameters or {}
        full_name = self._scrub_full_name(parameters[parameter])
        if self._is_defined(full_name, schema):
            return _reference(full_name, namespace)
        simple = names.split_name(self._full_name(schema.name))[1]
        discard = self._settings.discard_type_doc_default
        doc = parameters.get(names.TYPE_ENUM_DOC if discard else names.ENUM_DOC + simple)
        node = _named("enum", full_name, namespace, doc)
        prefix = parameter + "."
        node["symbols"] = [key.removeprefix(prefix) for key in parameters if key.startswith(prefix)]
        default = None if discard else parameters.get(names.ENUM_DEFAULT + simple)
        if default is not None:
            node["default"] = default
        return annotated(schema, node, self._settings)

    def _fixed(self, schema: ConnectSchema, namespace: str) -> Any:
        full_name = self._full_name(schema.name)
        if self._is_defined(full_name, schema):
            return _reference(full_name, namespace)
        size = (schema.parameters or {})[names.FIXED_SIZE]
        if not size.isdecimal():
            raise DataError(f"`{names.FIXED_SIZE}` of {full_name} is {size}, expected a number of bytes")
        node = _named("fixed", full_name, namespace, None)
        node["size"] = int(size)
        return annotated(schema, node | decimal_properties(schema), self._settings)

    def _full_name(self, name: str | None) -> str:
        if name is not None:
            return self._scrub_full_name(name)
        self._unnamed += 1
        return f"{names.NAMESPACE}.{names.DEFAULT_NAME}{self._unnamed if self._unnamed > 1 else ''}"

    def _scrub_full_name(self, name: str) -> str:
        if self._settings.scrub_invalid_names:
            name = names.scrubbed_full_name(name)
        if not all(map(names.is_valid_name, name.split("."))):
            raise DataError(
                f"Schema name {name!r} is not a valid name in Avro: set `scrub.invalid.names` to true, or use the "
                "transformation SetSchemaMetadata"
            )
        return name

    def _is_defined(self, full_name: str, schema: ConnectSchema) -> bool:
        """Whether the type is already defined.

        :raises DataError: that name belongs to another type.
        """
        structure = _structure(schema)
        if self._defined.setdefault(full_name, structure) is structure:
            return False
        if self._defined[full_name] != structure:
            raise DataError(f"Two different schemas have the name {full_name}, which Avro does not allow: rename one")
        return True


def _named(type_: str, full_name: str, around: str, doc: str | None) -> dict[str, Any]:
    """The first attributes of a named type; its namespace only where it is not that of the type around it."""
    namespace, name = names.split_name(full_name)
    node: dict[str, Any] = {"type": type_, "name": name}
    if (namespace or _NO_NAMESPACE) != around:
        node["namespace"] = namespace or _NO_NAMESPACE
    if doc is not None:
        node["doc"] = doc
    return node


def _reference(full_name: str, around: str) -> str:
    namespace, name = names.split_name(full_name)
    return name if (namespace or _NO_NAMESPACE) == around else full_name


def _kind(branch: Any) -> Any:
    """What must be unique in a union: a type, or the name of a named one."""
    if isinstance(branch, str):
        return branch
    return (branch.get("namespace"), branch["name"]) if branch["type"] in _NAMED else branch["type"]


def _is_named(node: Any, defined: dict[str, Any], namespace: str) -> bool:
    """Whether a type, or a branch of it, is a record, an enum or a fixed."""
    if isinstance(node, list):
        return any(_is_named(branch, defined, namespace) for branch in node)
    if isinstance(node, dict):
        return node["type"] in _NAMED
    return node in defined or f"{namespace}.{node}" in defined


def _structure(schema: ConnectSchema) -> Any:
    """What two uses of one name must have in common."""
    parameters = schema.parameters or {}
    return (
        schema.type,
        tuple((f.name, f.schema.optional, f.schema.name, _structure(f.schema)) for f in schema.fields),
        tuple(None if s is None else (s.optional, _structure(s)) for s in (schema.key_schema, schema.value_schema)),
        {key: value for key, value in parameters.items() if key.startswith(_SHAPE_PARAMETERS)},
    )
