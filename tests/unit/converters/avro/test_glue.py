"""Avro's names as Amazon's AvroData makes them up."""

from __future__ import annotations

import json

from airflow_kconnect.connect.data import INT64_SCHEMA, Shape, struct
from airflow_kconnect.converters.avro.glue import GlueAvroFormat
from airflow_kconnect.registry.schema import RegisteredSchema

FORM = GlueAvroFormat(GlueAvroFormat.config().parse({}))
UNNAMED = Shape(struct(("id", INT64_SCHEMA)))


def test_a_struct_without_a_name_has_amazons() -> None:
    written = json.loads(FORM.schema_of(UNNAMED).text)

    namespace = "com.amazonaws.services.schemaregistry.kafkaconnect.avrodata"
    assert (written["namespace"], written["name"]) == (namespace, "ConnectDefault")


def test_a_struct_with_amazons_name_has_none_when_it_is_read() -> None:
    assert FORM.shape_of(FORM.schema_of(UNNAMED), b"") == UNNAMED


def test_names_of_users_stay() -> None:
    text = '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"}]}'

    shape = FORM.shape_of(RegisteredSchema("AVRO", text), b"")

    assert shape.schema is not None
    assert shape.schema.name == "shop.Order"
