"""The JSON Schema format of registered schemas: behaves as Confluent's JsonSchemaConverter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.converters.json_schema.batches import JsonDecoder, JsonEncoder
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings, json_schema_config
from airflow_kconnect.converters.json_schema.documents import Documents
from airflow_kconnect.converters.json_schema.from_connect import FromConnect
from airflow_kconnect.converters.json_schema.to_connect import ToConnect
from airflow_kconnect.converters.json_schema.validation import Validation, check_installed
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.registry.schema import RegisteredSchema


class JsonSchemaFormat(Format):
    """Schemas as ``io.confluent.connect.json.JsonSchemaData`` converts them, payloads in JSON."""

    schema_type, language = "JSON", "JSON Schema"
    settings: ClassVar[type[JsonSchemaSettings]] = JsonSchemaSettings
    to_connect: ClassVar[type[ToConnect]] = ToConnect
    from_connect: ClassVar[type[FromConnect]] = FromConnect

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._settings = self.settings.of(values)
        if self._settings.json_fail_invalid_schema:
            check_installed()

    @classmethod
    def config(cls) -> ConfigDef:
        return json_schema_config()

    def shape_of(self, schema: RegisteredSchema, payload: bytes) -> Shape:
        self._validation(schema)
        return Shape(self._connect_schema(schema))

    def schema_of(self, shape: Shape) -> RegisteredSchema:
        return RegisteredSchema(self.schema_type, self.from_connect(self._settings).text(self.data_schema(shape)))

    def record_name(self, schema: RegisteredSchema) -> str | None:
        node = Documents(schema).root.node
        title = node.get("title") if isinstance(node, dict) else None
        return title if isinstance(title, str) else None

    def decoder(self, schema: RegisteredSchema, payload: bytes) -> JsonDecoder:
        return JsonDecoder(self._connect_schema(schema), self._validation(schema))

    def encoder(self, schema: RegisteredSchema, shape: Shape) -> JsonEncoder:
        return JsonEncoder(self.data_schema(shape), self._settings, self._validation(schema))

    def _validation(self, schema: RegisteredSchema) -> Validation | None:
        """:raises DataError: the schema is invalid."""
        if not self._settings.json_fail_invalid_schema:
            return None
        validation = Validation(schema)
        validation.checker()
        return validation

    def _connect_schema(self, schema: RegisteredSchema) -> ConnectSchema:
        return self.to_connect(Documents(schema), self._settings).root(schema.version)
