"""The base of converters with AWS Glue's schema registry: names of schemas, and framing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.converters.base import converter_config
from airflow_kconnect.converters.registered.converter import RegisteredConverter
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.registered.messages import KnownMessages
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.glue import keys
from airflow_kconnect.registry.glue.client import GlueRegistry
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import GLUE, GLUE_ZLIB, ID

_OWN = "Unknown header version or compression byte: messages with schemas of AWS Glue begin with 3 and then 0 or 5"
_BOTH = f"{_OWN}, and Confluent's with 0"


class GlueConverter(RegisteredConverter):
    """A converter of one of Amazon's formats."""

    secondary: ClassVar[str]
    """Confluent's deserializer of the same format."""

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        keys.check_secondary(self.config_values)

    @classmethod
    def config(cls) -> ConfigDef:
        return keys.glue_config(converter_config(), cls.secondary).extend(cls.form.config())

    @cached_property
    def _registry(self) -> GlueRegistry:
        prefix = f"{self._role}.converter."
        other = SchemaRegistry(self.config_values, prefix) if self._reads_ids else None
        return GlueRegistry(self.config_values, prefix, other)

    @property
    def _reads_ids(self) -> bool:
        return bool(self.config_values[keys.SECONDARY])

    def secondary_format(self) -> Format:
        """The format of messages of the secondary deserializer."""
        return self._format

    def known_messages(self) -> KnownMessages:
        forms = dict.fromkeys((GLUE, GLUE_ZLIB), self._format)
        if not self._reads_ids:
            return KnownMessages(forms, self._registry, _OWN)
        return KnownMessages({**forms, ID: self.secondary_format()}, self._registry, _BOTH)

    def assign(self, topic: str, schema: RegisteredSchema) -> tuple[bytes, RegisteredSchema]:
        values = self.config_values
        framing = GLUE_ZLIB if values[keys.COMPRESSION].upper() == keys.ZLIB else GLUE
        version = self._registry.version(values[keys.SCHEMA] or topic, schema, topic)
        return framing.prefix(version), schema
