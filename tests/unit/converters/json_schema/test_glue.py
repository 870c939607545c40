"""Amazon's JsonSchemaConverter: what its own answers (test_glue_golden.py) leave open."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import (
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.json_schema.glue import GlueJsonSchemaConverter, GlueJsonSchemaFormat
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.json_schema.corpus import registered

FORM = GlueJsonSchemaFormat(GlueJsonSchemaFormat.config().parse({}))
UNION = struct(("field1", INT32_SCHEMA.as_optional()), ("field2", OPTIONAL_STRING_SCHEMA), name="oneOf")


def read(schema: Any, *values: Any) -> tuple[ConnectSchema, list[Any], Any]:
    """The schema of values of one member `a`, these values, and their errors."""
    registered_schema = registered({"type": "object", "properties": {"a": schema}})
    payloads = [json.dumps({"a": value} if value is not ... else {}).encode() for value in values]
    connect = FORM.shape_of(registered_schema, b"").schema
    assert connect is not None
    data, errors = FORM.decoder(registered_schema, b"").decode(pa.array(payloads, pa.binary()))
    return connect.fields[0].schema, [row and row["a"] for row in data.to_pylist()], errors and errors.to_pylist()


def written(schema: ConnectSchema, *values: Any) -> list[Any]:
    shape = Shape(schema)
    payloads, errors = FORM.encoder(FORM.schema_of(shape), shape).encode(pa.array(values, arrow_type(schema)))
    assert errors is None
    return [json.loads(payload) for payload in payloads.to_pylist()]


@pytest.mark.parametrize("types", [["string", "null"], ["null", "string"]])
def test_a_type_or_null_is_that_type_optional(types: list[str]) -> None:
    assert read({"type": types}, "x", None) == (OPTIONAL_STRING_SCHEMA, ["x", None], None)


def test_a_property_may_be_missing_whatever_connect_says() -> None:
    assert read({"type": "string"}, "x", ...) == (STRING_SCHEMA, ["x", None], None)


def test_a_null_that_the_schema_does_not_allow_is_an_error() -> None:
    _, values, errors = read({"type": "string"}, None)

    assert (values, errors) == ([None], ["Invalid null value for required STRING field"])


def test_whole_numbers_without_a_connect_type_are_doubles() -> None:
    assert read({"type": "integer"}, 5) == (FLOAT64_SCHEMA, [5.0], None)


def test_symbols_with_a_type_are_an_enum() -> None:
    schema, values, _ = read({"type": "string", "enum": ["red"]}, "red")

    enum = "com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.Enum"
    assert (schema.type, schema.parameters, values) == (
        SchemaType.STRING,
        {enum: "", f"{enum}.red": "red"},
        ["red"],
    )


def test_members_of_a_union_are_optional() -> None:
    node = {"oneOf": [{"type": "integer", "connect.type": "int32"}, {"type": "string"}]}

    assert read(node, 5, "x") == (UNION, [{"field1": 5, "field2": None}, {"field1": None, "field2": "x"}], None)


def test_the_value_of_a_union_is_written_without_the_union() -> None:
    values = [{"u": {"field1": 5, "field2": None}}, {"u": {"field1": None, "field2": "x"}}]

    assert written(struct(("u", UNION)), *values) == [{"u": 5}, {"u": "x"}]


def test_what_is_null_is_no_property() -> None:
    schema = struct(("id", INT64_SCHEMA), ("note", OPTIONAL_STRING_SCHEMA))

    assert written(schema, {"id": 1, "note": None}, {"id": 2, "note": "x"}) == [{"id": 1}, {"id": 2, "note": "x"}]


def test_a_struct_that_is_only_called_like_a_union_is_none() -> None:
    schema = struct(("id", INT64_SCHEMA), name="oneOf")

    assert written(schema, {"id": 1}) == [{"id": 1}]


def test_a_secondary_deserializer_reads_names_as_confluents_converter_does() -> None:
    keys = {"secondaryDeserializer": "KafkaJsonSchemaDeserializer", "schema.registry.url": "http://localhost:1"}
    form = GlueJsonSchemaConverter(keys, is_key=False).secondary_format()

    shape = form.shape_of(RegisteredSchema("JSON", '{"type": "object", "title": "shop.Order"}'), b"")

    assert shape == Shape(struct(name="shop.Order"))


def test_the_defaults_are_amazons() -> None:
    values = GlueJsonSchemaConverter({}, is_key=False).config_values

    assert [values[key] for key in ("connect.meta.data", "decimal.format", "schemas.cache.config")] == [
        True,
        "BASE64",
        1000,
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [("decimal.format", "TEXT"), ("connect.meta.data", "some"), ("secondaryDeserializer", "KafkaAvroDeserializer")],
)
def test_a_wrong_value_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GlueJsonSchemaConverter({key: value}, is_key=False)
    assert list(caught.value.errors) == [key]
