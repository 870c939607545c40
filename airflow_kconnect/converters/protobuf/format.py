"""The Protobuf format of registered schemas: behaves as Confluent's ProtobufConverter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf.batches import MessageType, ProtobufDecoder, ProtobufEncoder
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.from_connect import proto_text
from airflow_kconnect.converters.protobuf.pool import descriptor_pool, file_names
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.converters.protobuf.to_connect import connect_schema
from airflow_kconnect.converters.registered.flags import define_schema_cache
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import decode_indexes, encode_indexes


class ProtobufFormat(Format):
    """Schemas as ``io.confluent.connect.protobuf.ProtobufData`` converts them, payloads with message indexes."""

    schema_type, language = "PROTOBUF", "Protobuf"
    selects = True

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._settings = self.settings_of(values)

    @classmethod
    def config(cls) -> ConfigDef:
        return define_schema_cache(ProtobufSettings.config())

    def settings_of(self, values: Mapping[str, Any]) -> ProtobufSettings:
        """What parsed values of `config` say."""
        return ProtobufSettings.of(values)

    def selector(self, payload: bytes) -> bytes:
        return payload[: _indexes(payload)[1]]

    def shape_of(self, schema: RegisteredSchema, payload: bytes) -> Shape:
        return Shape(self._type(schema, payload).schema)

    def schema_of(self, shape: Shape) -> RegisteredSchema:
        text, _ = self.proto_text(self.data_schema(shape))
        schema = RegisteredSchema(self.schema_type, text)
        try:
            compiled(schema)
        except DataError as error:
            raise DataError(
                f"{error}. It comes from the schema of the data: rename what is invalid, or set `scrub.invalid.names`"
            ) from error
        return schema

    def record_name(self, schema: RegisteredSchema) -> str | None:
        messages = _messages(_main_file(compiled(schema)))
        return str(messages[0].full_name) if messages else None

    def decoder(self, schema: RegisteredSchema, payload: bytes) -> ProtobufDecoder:
        return ProtobufDecoder(self._type(schema, payload), len(self.selector(payload)))

    def encoder(self, schema: RegisteredSchema, shape: Shape) -> ProtobufEncoder:
        from airflow_kconnect.converters.protobuf.write_columns import column_writer

        files, data = compiled(schema), self.data_schema(shape)
        name, file = self.proto_text(data)[1], _main_file(files)
        descriptor = _chosen(_messages(file), name)
        # Here and not in a task, because it fails if the type cannot hold the data.
        column_writer(descriptor, data, self._settings)
        prefix = self.prefix(file, descriptor)
        return ProtobufEncoder(MessageType(files, descriptor.full_name, data, self._settings), prefix)

    def proto_text(self, schema: ConnectSchema) -> tuple[str, str]:
        """The text of the file for data of a Connect schema, and the full name of their message type.

        :raises DataError: there is no message type for such data.
        """
        return proto_text(schema, self._settings)

    def connect_schema(self, descriptor: Any, version: int | None) -> ConnectSchema:
        """The Connect schema of messages of a type. :raises DataError: there is none."""
        return connect_schema(descriptor, self._settings, version)

    def prefix(self, file: Any, descriptor: Any) -> bytes:
        """What selects a message type of a file, before payloads."""
        return encode_indexes([_messages(file).index(descriptor)])

    def selected(self, file: Any, payload: bytes) -> Any:
        """The message type that a payload selects. :raises DataError: there is none."""
        return _selected(file, _indexes(payload)[0])

    def _type(self, schema: RegisteredSchema, payload: bytes) -> MessageType:
        files = compiled(schema)
        descriptor = self.selected(_main_file(files), payload)
        connect = self.connect_schema(descriptor, schema.version)
        return MessageType(files, descriptor.full_name, connect, self._settings)


def _indexes(payload: bytes) -> tuple[tuple[int, ...], int]:
    try:
        return decode_indexes(payload)
    except ValueError as error:
        raise DataError(f"The Protobuf message does not begin with message indexes: {error}") from error


def _main_file(files: bytes) -> Any:
    return descriptor_pool(files).FindFileByName(file_names(files)[-1])


def _messages(file: Any) -> list[Any]:
    """The message types of a file, in the order of their indexes."""
    return list(file.message_types_by_name.values())


def _selected(file: Any, indexes: tuple[int, ...]) -> Any:
    messages = _messages(file)
    message = None
    for index in indexes:
        if not 0 <= index < len(messages):
            raise DataError(f"The Protobuf schema has no message type with the indexes {list(indexes)} of the message")
        message = messages[index]
        messages = list(message.nested_types)
    return message


def _chosen(messages: list[Any], name: str) -> Any:
    """The message type to write: the one of that name, or the first."""
    if not messages:
        raise DataError("The Protobuf schema has no message types")
    simple = name.rpartition(".")[2]
    by_full_name = [message for message in messages if message.full_name == name]
    by_name = [message for message in messages if message.name == simple]
    return (by_full_name or by_name or messages)[0]
