"""The .proto file of a Connect schema, as ProtobufData's ``fromConnectSchema`` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf import fields, names
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.converters.types import logical_name

_IMPORTS = {
    "confluent.type.Decimal": "confluent/type/decimal.proto",
    names.GLUE_DECIMAL: "additionalTypes/decimal.proto",
    "google.type.Date": "google/type/date.proto",
    "google.type.TimeOfDay": "google/type/timeofday.proto",
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
    **dict.fromkeys(names.WRAPPERS, "google/protobuf/wrappers.proto"),
}
_META = "confluent/meta.proto"
_WRAPPED = {
    **{of: name for name, of in reversed(names.WRAPPERS.items())},
    SchemaType.INT8: "google.protobuf.Int32Value",
    SchemaType.INT16: "google.protobuf.Int32Value",
    SchemaType.INT64: "google.protobuf.Int64Value",
}
_UNSIGNED = {
    "uint32": "google.protobuf.UInt32Value",
    "fixed32": "google.protobuf.UInt32Value",
    "uint64": "google.protobuf.UInt64Value",
    "fixed64": "google.protobuf.UInt64Value",
}


def proto_text(schema: ConnectSchema, settings: ProtobufSettings) -> tuple[str, str]:
    """The text of the file to register for data of a Connect schema, and the full name of their message type.

    :raises DataError: there is no message type for such data.
    """
    wrapper = _WRAPPED.get(schema.type)
    if wrapper is not None and logical_name(schema) is None:
        return _wrappers_file(), wrapper
    if schema.type is not SchemaType.STRUCT or names.is_union(schema):
        raise DataError(
            f"Unsupported root schema of type {logical_name(schema) or schema.type}: Protobuf messages are structs or "
            "primitive values"
        )
    return FromConnect(settings).file(schema)


def _wrappers_file() -> str:
    """Google's own file of wrapper messages, which ProtobufData registers for data that are one primitive value."""
    kinds = ("double", "float", "int64", "uint64", "int32", "uint32", "bool", "string", "bytes")
    messages = (
        f"message {name.rpartition('.')[2]} {{\n  {kind} value = 1;\n}}\n"
        for name, kind in zip(names.WRAPPERS, kinds, strict=True)
    )
    return 'syntax = "proto3";\npackage google.protobuf;\n\n' + "".join(messages)


@dataclass
class Message:
    """A message definition that grows field by field."""

    name: str
    fields: list[str] = field(default_factory=list)
    oneofs: dict[str, list[str]] = field(default_factory=dict)
    nested: dict[str, Message] = field(default_factory=dict)
    schemas: dict[str, ConnectSchema] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Its text, not indented."""
        inner = list(self.fields)
        for name, members in self.oneofs.items():
            inner += [f"oneof {name} {{", *indented(members), "}"]
        for message in self.nested.values():
            inner += message.lines()
        for name, values in self.enums.items():
            inner += [f"enum {name} {{", *indented(values), "}"]
        return [f"message {self.name} {{", *indented(inner), "}"]


def indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


class FromConnect:
    """Converts one schema. The attributes are names; those of Amazon's converter differ."""

    tag, type = names.TAG, names.TYPE

    def __init__(self, settings: ProtobufSettings) -> None:
        self._settings = settings
        self._unnamed = 0
        self._imports: list[str] = []

    def file(self, schema: ConnectSchema) -> tuple[str, str]:
        """The file of a struct, and the full name of its message type."""
        package, name = names.split_name(self._full_name(schema.name))
        name = self._scrub(name)
        message = self._message(name, schema)
        head = ['syntax = "proto3";', *([f"package {package};"] if package else []), ""]
        imports = [f'import "{path}";' for path in self._imports]
        lines = [*head, *imports, *([""] if imports else []), *message.lines()]
        return "\n".join(lines) + "\n", f"{package}.{name}" if package else name

    def _full_name(self, name: str | None) -> str:
        if name:
            return name
        self._unnamed += 1
        return f"{names.DEFAULT_NAME}{self._unnamed}"

    def _scrub(self, name: str) -> str:
        return names.scrubbed(name) if self._settings.scrub_invalid_names else name

    def _simple_name(self, name: str | None) -> str:
        return self._scrub(names.split_name(self._full_name(name))[1])

    def _import(self, path: str) -> None:
        if path not in self._imports:
            self._imports.append(path)

    # Messages

    def _message(self, name: str, schema: ConnectSchema) -> Message:
        message, numbers = Message(name), self._free_numbers(schema)
        for member in schema.fields:
            if names.is_union(member.schema):
                self._union(message, member, numbers)
            else:
                number = self._number(member.schema, numbers)
                message.fields.append(self._field(message, member, number, within_oneof=False))
        return message

    def _union(self, message: Message, member: Field, numbers: Iterator[int]) -> None:
        schema = member.schema
        self._number(schema, numbers)
        given = (schema.parameters or {}).get(sums.UNION)
        if self._settings.generalized_sum_type_support and given is not None:
            name = given
        else:
            name = self._simple_name((schema.name or "").removeprefix(f"{names.UNION}."))
        self._oneof(message, name, schema, numbers)

    def _oneof(self, message: Message, name: str, schema: ConnectSchema, numbers: Iterator[int]) -> None:
        if name in message.oneofs:
            raise DataError(f"Two unions of {message.name} have the same name {name}: rename one of them")
        message.oneofs[name] = [
            self._field(message, member, self._number(member.schema, numbers), within_oneof=True)
            for member in schema.fields
        ]

    def _field(self, message: Message, member: Field, number: int, *, within_oneof: bool) -> str:
        schema, name = member.schema, self._scrub(member.name)
        label = ""
        if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
            if within_oneof:
                raise DataError(f"Field {name} of {message.name}: a member of a union cannot be of type {schema.type}")
            label = "repeated "
        elif self._settings.optional_for_nullables and schema.optional and not within_oneof:
            label = "optional "
        if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
            schema = schema.value_schema
        if schema.type is SchemaType.ARRAY or (schema.type is SchemaType.MAP and member.schema is not schema):
            raise DataError(f"Field {name} of {message.name}: Array cannot be nested")
        type_ = self._type(message, schema, name, within_oneof=within_oneof)
        return f"{label}{type_} {name} = {number}{self._options(schema)};"

    def _options(self, schema: ConnectSchema) -> str:
        params: dict[str, str] = {}
        given = schema.parameters or {}
        if logical_name(schema) == DECIMAL:
            params = {
                name: given[key] for name, key in (("precision", names.PRECISION), ("scale", "scale")) if key in given
            }
        elif schema.type in (SchemaType.INT8, SchemaType.INT16):
            params = {names.CONNECT_TYPE: schema.type.value}
        if not params:
            return ""
        self._import(_META)
        pairs = ", ".join(f'{{key: "{key}", value: "{_quoted(value)}"}}' for key, value in params.items())
        return f" [(confluent.field_meta) = {{params: [{pairs}]}}]"

    # Types

    def _type(self, message: Message, schema: ConnectSchema, name: str, *, within_oneof: bool = False) -> str:
        logical = logical_name(schema)
        if logical is not None:
            return self._imported(names.MESSAGES_OF_LOGICAL_TYPES[logical])
        match schema.type:
            case SchemaType.STRUCT if names.is_union(schema):
                raise DataError(f"Field {name} of {message.name}: a union can only be a field of a struct")
            case SchemaType.STRUCT:
                type_ = self._simple_name(schema.name)
                return self._nested(message, f"{type_}Message" if type_ == name else type_, schema)
            case SchemaType.MAP:
                return self._map(message, schema)
        enum = self._enum_parameter(schema)
        if enum is not None:
            return self._enum(message, schema, (schema.parameters or {})[enum], f"{enum}.")
        if schema.optional and self._settings.wrapper_for_nullables and (not within_oneof or _was_wrapper(schema)):
            wrapper = _UNSIGNED.get(self._kind(schema), _WRAPPED[schema.type])
            return self._imported(wrapper)
        return self._kind(schema)

    def _imported(self, name: str) -> str:
        self._import(_IMPORTS[name])
        # Without the dot a package or message of the schema could hide it.
        return f".{name}"

    def _nested(self, message: Message, name: str, schema: ConnectSchema) -> str:
        plain = replace(schema, optional=False, default=None, doc=None, version=None, parameters=None)
        if name not in message.nested:
            message.schemas[name] = plain
            message.nested[name] = Message(name)
            message.nested[name] = self._message(name, schema)
        elif message.schemas[name] != plain:
            raise DataError(f"Two different structs in {message.name} have the same name {name}: rename one of them")
        return name

    def _map(self, message: Message, schema: ConnectSchema) -> str:
        assert schema.key_schema is not None and schema.value_schema is not None
        name = names.map_entry_name(self._simple_name(schema.name))
        pairs = tuple(
            Field(of, replace(inner, parameters=self._without_tag(inner)))
            for of, inner in (("key", schema.key_schema), ("value", schema.value_schema))
        )
        if any(pair.schema.type in (SchemaType.ARRAY, SchemaType.MAP) for pair in pairs):
            raise DataError(f"Map {name} of {message.name}: arrays and maps cannot be keys or values of a map")
        return self._nested(message, name, ConnectSchema(SchemaType.STRUCT, fields=pairs))

    def _enum_parameter(self, schema: ConnectSchema) -> str | None:
        parameter = sums.ENUM if self._settings.generalized_sum_type_support else names.ENUM
        return parameter if parameter in (schema.parameters or {}) else None

    def _enum(self, message: Message, schema: ConnectSchema, name: str, prefix: str) -> str:
        """:param prefix: of the parameters that have its values."""
        parameters = schema.parameters or {}
        numbers = {key.removeprefix(prefix): value for key, value in parameters.items() if key.startswith(prefix)}
        lines = [f"{name} = {number};" for name, number in numbers.items()]
        if len(set(numbers.values())) < len(numbers):
            lines.insert(0, "option allow_alias = true;")
        name = self._scrub(name)
        if message.enums.setdefault(name, lines) != lines:
            raise DataError(f"Two different enums in {message.name} have the same name {name}: rename one of them")
        return name

    def _kind(self, schema: ConnectSchema) -> str:
        given = (schema.parameters or {}).get(self.type, "").lower()
        return given if fields.CONNECT_TYPES.get(given) is schema.type else fields.USUAL_KINDS[schema.type]

    # Numbers

    def _without_tag(self, schema: ConnectSchema) -> dict[str, str] | None:
        return {key: value for key, value in (schema.parameters or {}).items() if key != self.tag} or None

    def _tag(self, schema: ConnectSchema) -> int | None:
        text = (schema.parameters or {}).get(self.tag)
        return int(text) if text is not None and text.isdecimal() else None

    def _number(self, schema: ConnectSchema, numbers: Iterator[int]) -> int:
        tag = self._tag(schema)
        return next(numbers) if tag is None else tag

    def _free_numbers(self, schema: ConnectSchema) -> Iterator[int]:
        """Numbers for fields without a tag, from 1: those of other fields are left out."""
        members = [*schema.fields]
        for member in schema.fields:
            if names.is_union(member.schema):
                members += member.schema.fields
        taken = {self._tag(member.schema) for member in members if not names.is_union(member.schema)}
        return (number for number in count(1) if number not in taken)


def _was_wrapper(schema: ConnectSchema) -> bool:
    return (schema.parameters or {}).get(names.WRAPPER) == "true"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
