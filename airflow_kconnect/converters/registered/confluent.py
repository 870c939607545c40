"""The base of converters with registries that speak Confluent's REST API: subjects, ids, and ids in headers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.converters.base import converter_config
from airflow_kconnect.converters.id_header import IdHeader, SchemaHeaders
from airflow_kconnect.converters.registered.converter import RegisteredConverter
from airflow_kconnect.converters.registered.messages import KnownMessages
from airflow_kconnect.registry.authentication import check_authentication
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import latest_metadata, reads_headers, registry_config, writes_headers
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.subjects import strategy
from airflow_kconnect.registry.wire import GUID, ID


class ConfluentConverter(RegisteredConverter, SchemaHeaders):
    """A converter of one of Confluent's formats."""

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        check_authentication(self.config_values)

    @classmethod
    def config(cls) -> ConfigDef:
        return registry_config(converter_config()).extend(cls.form.config())

    @cached_property
    def _registry(self) -> SchemaRegistry:
        return SchemaRegistry(self.config_values, f"{self._role}.converter.")

    def known_messages(self) -> KnownMessages:
        return KnownMessages({ID: self._format}, self._registry)

    @property
    def id_header(self) -> IdHeader | None:
        if not reads_headers(self.config_values, self._role):
            return None
        return IdHeader(self._header_name, self.form.selects)

    @property
    def id_header_written(self) -> str | None:
        return self._header_name if self.names_in_headers else None

    @property
    def names_in_headers(self) -> bool:
        return writes_headers(self.config_values, self._role)

    @property
    def _header_name(self) -> str:
        return f"__{self._role}_schema_id"

    def expect_ids(self) -> None:
        self._known.forms = dict.fromkeys((ID, GUID), self._format)

    def assign(self, topic: str, schema: RegisteredSchema) -> tuple[bytes, RegisteredSchema]:
        schema_id, chosen = self._chosen(topic, schema)
        if self.names_in_headers:
            return GUID.prefix(self._registry.guid(schema_id)), chosen
        return ID.prefix(schema_id), chosen

    def _chosen(self, topic: str, schema: RegisteredSchema) -> tuple[int, RegisteredSchema]:
        """Id and schema with which a topic's records are written (``AbstractKafkaSchemaSerDe``)."""
        values = self.config_values
        name = strategy(values[f"{self._role}.subject.name.strategy"])
        subject = name(topic, self.is_key, self._format.record_name(schema))
        if values["auto.register.schemas"]:
            return self._registry.register(subject, schema), schema
        if values["use.schema.id"] >= 0:
            return values["use.schema.id"], self._registry.schema_by_id(values["use.schema.id"])
        if metadata := latest_metadata(values):
            return self._registry.latest_with(subject, metadata)
        if values["use.latest.version"]:
            return self._registry.latest(subject)
        return self._registry.lookup(subject, schema), schema
