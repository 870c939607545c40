"""Amazon's JsonSchemaConverter: JSON with AWS Glue's schema registry."""

from __future__ import annotations

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.converters.json_schema.config import define_decimal_format
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.json_schema.glue_schemas import (
    META_DATA,
    GlueFromConnect,
    GlueJsonSettings,
    GlueToConnect,
)
from airflow_kconnect.converters.registered.flags import define_schema_cache
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.registered.glue import GlueConverter


class GlueJsonSchemaFormat(JsonSchemaFormat):
    """Schemas as Amazon's ``JsonSchemaConverter`` converts them, payloads in JSON."""

    settings = GlueJsonSettings
    to_connect = GlueToConnect
    from_connect = GlueFromConnect

    @classmethod
    def config(cls) -> ConfigDef:
        config = define_decimal_format(define_schema_cache(ConfigDef()))
        return config.define(
            META_DATA,
            Type.BOOLEAN,
            True,
            Importance.LOW,
            "Whether schemas that are registered have names, versions, texts, parameters and defaults of Connect's.",
        )


class GlueJsonSchemaConverter(GlueConverter):
    """``com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.JsonSchemaConverter``."""

    form = GlueJsonSchemaFormat
    secondary = "io.confluent.kafka.serializers.json.KafkaJsonSchemaDeserializer"

    def secondary_format(self) -> Format:
        return JsonSchemaFormat(JsonSchemaFormat.config().parse({}))
