"""Amazon's ProtobufSchemaConverter: Protobuf with AWS Glue's schema registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.protobuf.glue_schemas import GlueFromConnect, GlueToConnect
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.registered.glue import GlueConverter
from airflow_kconnect.registry.glue.keys import define_record_type
from airflow_kconnect.registry.wire import decode_index, encode_index

_SETTINGS = ProtobufSettings(
    as_amazon=True,
    # A name that is invalid in Protobuf ends Amazon's converter.
    scrub_invalid_names=True,
    optional_for_nullables=True,
    wrapper_for_raw_primitives=False,
    generate_index_for_unions=False,
)


class _AmazonsSchemas(ProtobufFormat):
    """Schemas as Amazon's ``ProtobufSchemaConverter`` converts them, payloads with Confluent's message indexes."""

    @classmethod
    def config(cls) -> ConfigDef:
        return define_record_type(ConfigDef(), "protobufMessageType", "DYNAMIC_MESSAGE", "POJO", "UNKNOWN")

    def settings_of(self, values: Mapping[str, Any]) -> ProtobufSettings:
        return _SETTINGS

    def proto_text(self, schema: ConnectSchema) -> tuple[str, str]:
        return GlueFromConnect(_SETTINGS).file(schema)

    def connect_schema(self, descriptor: Any, version: int | None) -> ConnectSchema:
        return GlueToConnect(_SETTINGS).root(descriptor)


class GlueProtobufFormat(_AmazonsSchemas):
    """The same with Amazon's number of the message type before payloads."""

    def selector(self, payload: bytes) -> bytes:
        return payload[: _index(payload)[1]]

    def prefix(self, file: Any, descriptor: Any) -> bytes:
        return encode_index([one.full_name for one in _numbered(file)].index(descriptor.full_name))

    def selected(self, file: Any, payload: bytes) -> Any:
        messages, (index, _) = _numbered(file), _index(payload)
        if index >= len(messages):
            raise DataError(f"The Protobuf schema has {len(messages)} message types, and none with the number {index}")
        return messages[index]


class GlueProtobufConverter(GlueConverter):
    """``com.amazonaws.services.schemaregistry.kafkaconnect.protobuf.ProtobufSchemaConverter``."""

    form = GlueProtobufFormat
    secondary = "io.confluent.kafka.serializers.protobuf.KafkaProtobufDeserializer"

    def secondary_format(self) -> Format:
        return _AmazonsSchemas(self._format.values)


def _index(payload: bytes) -> tuple[int, int]:
    try:
        return decode_index(payload)
    except ValueError as error:
        raise DataError(f"The Protobuf message does not begin with the number of its type: {error}") from error


def _numbered(file: Any) -> list[Any]:
    """All message types of a file, also those within others, in the order of their numbers."""
    found, messages = [], list(file.message_types_by_name.values())
    while messages:
        found.append(message := messages.pop())
        messages += message.nested_types
    return sorted(found, key=lambda message: str(message.full_name))
