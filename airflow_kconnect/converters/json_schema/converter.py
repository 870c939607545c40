"""JsonSchemaConverter: JSON with a schema registry."""

from __future__ import annotations

from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.registered.confluent import ConfluentConverter


class JsonSchemaConverter(ConfluentConverter):
    """``io.confluent.connect.json.JsonSchemaConverter``."""

    form = JsonSchemaFormat
