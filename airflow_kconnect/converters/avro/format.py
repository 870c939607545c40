"""The Avro format of registered schemas: behaves as Confluent's AvroConverter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.batches import AvroDecoder, AvroEncoder
from airflow_kconnect.converters.avro.payloads.binding import bind
from airflow_kconnect.converters.avro.payloads.plans import Node
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.from_connect import avro_schema_text
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.converters.avro.schemas.schema import AvroDocument, AvroType
from airflow_kconnect.converters.avro.schemas.to_connect import connect_schema
from airflow_kconnect.converters.registered.flags import define_schema_cache
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.registry.schema import RegisteredSchema


class AvroFormat(Format):
    """Schemas as ``io.confluent.connect.avro.AvroData`` converts them, payloads in Avro's binary encoding."""

    schema_type, language = "AVRO", "Avro"
    namespace: ClassVar[str] = names.NAMESPACE
    """Of the names that ``AvroData`` makes up."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._settings = AvroSettings.of(values)

    @classmethod
    def config(cls) -> ConfigDef:
        return define_schema_cache(AvroSettings.config())

    def shape_of(self, schema: RegisteredSchema, payload: bytes) -> Shape:
        document = self._document(schema)
        connect = self._connect_schema(schema, document)
        # Some schemas have a Connect schema, but not data that can be read.
        self._plan(connect, document)
        return Shape(connect)

    def schema_of(self, shape: Shape) -> RegisteredSchema:
        text = avro_schema_text(self.data_schema(shape), self._settings)
        return RegisteredSchema(self.schema_type, _renamed(text, names.NAMESPACE, self.namespace))

    def record_name(self, schema: RegisteredSchema) -> str | None:
        root = self._document(schema).root
        return root.name if root.type is AvroType.RECORD else None

    def decoder(self, schema: RegisteredSchema, payload: bytes) -> AvroDecoder:
        document = self._document(schema)
        return AvroDecoder(self._plan(self._connect_schema(schema, document), document))

    def encoder(self, schema: RegisteredSchema, shape: Shape) -> AvroEncoder:
        return AvroEncoder(self._plan(self.data_schema(shape), self._document(schema)))

    def _document(self, schema: RegisteredSchema) -> AvroDocument:
        text = _renamed(schema.text, self.namespace, names.NAMESPACE)
        return parse_schema(schema if text == schema.text else replace(schema, text=text))

    def _connect_schema(self, schema: RegisteredSchema, document: AvroDocument) -> ConnectSchema:
        if document.root.name == names.ANYTHING:
            raise self.no_schema()
        return connect_schema(document.root, self._settings, schema.version)

    def _plan(self, schema: ConnectSchema, document: AvroDocument) -> Node:
        return bind(schema, document, self._settings)


def _renamed(text: str, namespace: str, other: str) -> str:
    """A schema with another namespace in names: these are JSON strings that begin with it."""
    return text.replace(f'"{namespace}', f'"{other}') if namespace != other else text
