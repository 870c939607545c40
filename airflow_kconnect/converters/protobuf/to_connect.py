"""The Connect schema of a Protobuf message type, as ProtobufData's ``toConnectSchema`` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType
from airflow_kconnect.converters.protobuf import fields, names
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.pool import field_params
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.converters.registered.schema_walk import SMALL_INTEGERS, SchemaWalk
from airflow_kconnect.converters.types import LOGICAL_TYPES


def connect_schema(descriptor: Any, settings: ProtobufSettings, version: int | None = None) -> ConnectSchema:
    """The Connect schema of messages of a type.

    :param descriptor: of the message type.
    :param version: the registry's.
    :raises DataError: Connect, or a Spark column, cannot hold such data.
    """
    wrapped = names.WRAPPERS.get(descriptor.full_name) if settings.wrapper_for_raw_primitives else None
    if wrapped is not None:
        return ConnectSchema(wrapped, version=version)
    return replace(ToConnect(settings).message(descriptor), version=version)


class ToConnect(SchemaWalk):
    """Converts one message type."""

    language = "Protobuf"

    def __init__(self, settings: ProtobufSettings) -> None:
        super().__init__()
        self._settings = settings
        self._within_types: list[str] = []

    def message(self, descriptor: Any) -> ConnectSchema:
        """The STRUCT of a message type."""
        if descriptor.full_name in self._within_types:
            raise self._endless(f"type {descriptor.full_name}")
        self._within_types.append(descriptor.full_name)
        members = self._all_members(descriptor)
        self._within_types.pop()
        self._check_names(members)
        return ConnectSchema(SchemaType.STRUCT, name=self._name(descriptor), fields=tuple(members))

    def _all_members(self, descriptor: Any) -> list[Field]:
        """Oneofs first, then the other fields."""
        members: list[Field] = []
        for oneof in fields.oneofs(descriptor):
            if self._settings.flatten_unions:
                members += self._members(oneof.fields, within_oneof=True)
            else:
                members.append(Field(fields.union_name(oneof, self._settings), self._union(oneof)))
        return members + self._members([field for field in descriptor.fields if not fields.oneof_of(field)])

    @contextmanager
    def _within(self, name: str) -> Iterator[None]:
        with super()._within(name):
            self._count_one()
            yield

    def _check_names(self, members: list[Field]) -> None:
        seen: set[str] = set()
        for member in members:
            if member.name in seen:
                raise self._error(f"a oneof and a field have the same name {member.name} in Connect")
            seen.add(member.name)

    def _name(self, descriptor: Any) -> str:
        name: str = descriptor.full_name if self._settings.enhanced_protobuf_schema_support else descriptor.name
        return name

    def _members(self, members: Any, *, within_oneof: bool = False) -> list[Field]:
        converted = []
        for field in members:
            with self._within(field.name):
                converted.append(Field(field.name, self._field(field, within_oneof=within_oneof)))
        return converted

    def _union(self, oneof: Any) -> ConnectSchema:
        with self._within(oneof.name):
            members = tuple(self._members(oneof.fields, within_oneof=True))
        if self._settings.generalized_sum_type_support:
            name, parameters = oneof.name, {sums.UNION: oneof.name}
            return ConnectSchema(SchemaType.STRUCT, True, name=name, parameters=parameters, fields=members)
        name = oneof.full_name if self._settings.enhanced_protobuf_schema_support else oneof.name
        return ConnectSchema(SchemaType.STRUCT, True, name=f"{names.UNION}.{name}", fields=members)

    def _field(self, field: Any, *, within_oneof: bool) -> ConnectSchema:
        schema = self._value(field)
        if fields.is_repeated(field) and schema.type is not SchemaType.MAP:
            schema = ConnectSchema(SchemaType.ARRAY, True, value_schema=schema.as_optional())
        parameters = dict(schema.parameters or {})
        if within_oneof and self._settings.wrapper_for_nullables and fields.wrapped(field) is not None:
            parameters[names.WRAPPER] = "true"
        parameters[names.TAG] = str(field.number)
        optional = schema.optional or within_oneof or self._is_optional(field)
        return replace(schema, optional=optional, parameters=parameters)

    def _is_optional(self, field: Any) -> bool:
        if self._settings.optional_for_nullables:
            return fields.has_optional_keyword(field)
        return not self._settings.wrapper_for_nullables

    def _value(self, field: Any) -> ConnectSchema:
        """Of one value: what is repeated is an array of them."""
        kind = fields.kind(field)
        if kind == "enum":
            return self._enum(field.enum_type)
        if kind == "message":
            return self._message_value(field).as_optional()
        if kind == "group":
            raise self._error("groups are not supported: use a message")
        type_ = fields.CONNECT_TYPES[kind]
        if type_ is SchemaType.INT32:
            type_ = SMALL_INTEGERS.get(field_params(field).get(names.CONNECT_TYPE, ""), type_)
        plain = type_ not in (SchemaType.INT32, SchemaType.INT64) or kind == fields.USUAL_KINDS[type_]
        return ConnectSchema(type_, parameters=None if plain else self._of_kind(kind))

    def _of_kind(self, kind: str) -> dict[str, str]:
        """The parameters that note a type which is not the usual one."""
        return {names.TYPE: kind}

    def _enum(self, enum: Any) -> ConnectSchema:
        parameter = sums.ENUM if self._settings.generalized_sum_type_support else names.ENUM
        parameters = {parameter: enum.name, **{f"{parameter}.{v.name}": str(v.number) for v in enum.values}}
        type_ = SchemaType.INT32 if self._settings.int_for_enums else SchemaType.STRING
        return ConnectSchema(type_, True, name=self._name(enum), parameters=parameters)

    def _message_value(self, field: Any) -> ConnectSchema:
        message = field.message_type
        logical = names.LOGICAL_TYPES.get(message.full_name)
        if logical == DECIMAL:
            return self._decimal(field)
        if logical is not None:
            return ConnectSchema(LOGICAL_TYPES[logical], name=logical, version=1)
        if message.full_name == names.VARIANT:
            raise self._error(f"type {names.VARIANT} is not supported")
        wrapped = fields.wrapped(field) if self._settings.wrapper_for_nullables else None
        if wrapped is not None:
            return ConnectSchema(wrapped)
        return self._map(message) if fields.is_map(field) else self.message(message)

    def _decimal(self, field: Any) -> ConnectSchema:
        params = field_params(field)
        scale, precision = (params.get(name, "") for name in ("scale", "precision"))
        parameters = {"scale": scale if scale.lstrip("-").isdecimal() else "0"}
        if precision.isdecimal():
            parameters[names.PRECISION] = str(int(precision))
        schema = ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters=parameters)
        self._check_scale(schema)
        return schema

    def _map(self, entry: Any) -> ConnectSchema:
        key, value = entry.fields
        with self._within("[]"):
            keys, values = self._field(key, within_oneof=False), self._field(value, within_oneof=False)
        if not keys.type.is_primitive:
            raise self._error("Keys of a map that are messages are not supported")
        return ConnectSchema(
            SchemaType.MAP, name=names.map_name(self._name(entry)), key_schema=keys, value_schema=values
        )
