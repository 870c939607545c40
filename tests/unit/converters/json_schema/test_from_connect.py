"""JSON Schemas of Connect schemas: the rules of JsonSchemaData's `fromConnectSchema`."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.json_schema.from_connect import FromConnect, in_order_of_java
from tests.unit.converters.json_schema.corpus import decimal, logical, nullable, number, registered

STRING = ConnectSchema(SchemaType.STRING)
INT32 = ConnectSchema(SchemaType.INT32)


def made(schema: ConnectSchema, **settings: Any) -> Any:
    return json.loads(FromConnect(JsonSchemaSettings(**settings)).text(schema))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (ConnectSchema(SchemaType.BOOLEAN), {"type": "boolean"}),
        (ConnectSchema(SchemaType.INT8), number("int8")),
        (ConnectSchema(SchemaType.INT16), number("int16")),
        (INT32, number("int32")),
        (ConnectSchema(SchemaType.INT64), number("int64")),
        (ConnectSchema(SchemaType.FLOAT32), number("float32")),
        (ConnectSchema(SchemaType.FLOAT64), number("float64")),
        (STRING, {"type": "string"}),
        (ConnectSchema(SchemaType.BYTES), {"type": "string", "connect.type": "bytes"}),
        (STRING.as_optional(), nullable({"type": "string"})),
        (ConnectSchema(SchemaType.INT32, name=DATE, version=1), logical(DATE, "int32")),
        (
            ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": "2"}),
            decimal() | {"type": "string"},
        ),
        (ConnectSchema(SchemaType.ARRAY, value_schema=STRING), {"type": "array", "items": {"type": "string"}}),
        (
            ConnectSchema(SchemaType.MAP, key_schema=STRING, value_schema=INT32),
            {"type": "object", "connect.type": "map", "additionalProperties": number("int32")},
        ),
        (
            ConnectSchema(SchemaType.MAP, key_schema=INT32, value_schema=STRING.as_optional()),
            {
                "type": "array",
                "connect.type": "map",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": number("int32") | {"connect.index": 0},
                        "value": nullable({"type": "string"}) | {"connect.index": 1},
                    },
                },
            },
        ),
        (replace(STRING, default="x", doc="d"), {"type": "string", "description": "d", "default": "x"}),
        (
            ConnectSchema(SchemaType.BYTES, default=b"\0"),
            {"type": "string", "connect.type": "bytes", "default": "AA=="},
        ),
        (replace(INT32, name=DATE, default=date(1970, 1, 2)), {**number("int32"), "title": DATE, "default": 1}),
        (struct(), {"type": "object"}),
    ],
)
def test_types(schema: ConnectSchema, expected: Any) -> None:
    assert made(schema) == expected


@pytest.mark.parametrize("decimal_format", ["BASE64", "NUMERIC"])
def test_decimals_match_the_schema_that_is_registered_for_them(decimal_format: str) -> None:
    format_ = JsonSchemaFormat({"decimal.format": decimal_format, "json.fail.invalid.schema": True})
    shape = Shape(ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"}))
    _, errors = format_.encoder(format_.schema_of(shape), shape).encode(pa.array([Decimal("1.25")]))
    assert errors is None


def test_the_default_of_a_decimal_has_its_format() -> None:
    schema = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"}, default=Decimal("1.25"))
    assert made(schema)["default"] == "fQ=="
    assert made(schema, decimal_format="NUMERIC")["default"] == 1.25


def test_objects_are_closed_if_set() -> None:
    assert made(struct(("a", STRING)), object_additional_properties=False)["additionalProperties"] is False


def test_members_have_the_order_in_which_confluents_converter_prints_them() -> None:
    customers = struct(
        ("id", INT32),
        ("first_name", STRING),
        ("last_name", STRING),
        ("email", STRING),
        ("phone_number", STRING.as_optional()),
        name="server1.dbo.customers.Value",
    )
    # From a log of the SQL Server connector with JsonSchemaConverter.
    assert FromConnect(JsonSchemaSettings()).text(customers) == (
        '{"type":"object","title":"server1.dbo.customers.Value","properties":{'
        '"last_name":{"type":"string","connect.index":2},'
        '"phone_number":{"connect.index":4,"oneOf":[{"type":"null"},{"type":"string"}]},'
        '"id":{"type":"integer","connect.index":0,"connect.type":"int32"},'
        '"first_name":{"type":"string","connect.index":1},'
        '"email":{"type":"string","connect.index":3}}}'
    )


def test_a_larger_hash_map_has_more_buckets() -> None:
    assert "".join(in_order_of_java(dict.fromkeys("vutsrqponmlk"))) == "pqrstuvklmno"
    assert "".join(in_order_of_java(dict.fromkeys("wvutsrqponmlk"))) == "klmnopqrstuvw"


def test_enums_are_written_as_enums() -> None:
    format_ = JsonSchemaFormat({})
    shape = format_.shape_of(registered({"enum": ["A", None, "B"]}), b"")
    assert json.loads(format_.schema_of(shape).text) == {"enum": ["A", None, "B"]}


@pytest.mark.parametrize("generalized", [False, True])
def test_unions_are_written_as_unions(generalized: bool) -> None:
    format_ = JsonSchemaFormat({"generalized.sum.type.support": generalized})
    union = {"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "boolean"}]}
    text = format_.schema_of(format_.shape_of(registered(union), b"")).text
    members = [{"type": "string", "connect.index": 0}, {"type": "boolean", "connect.index": 1}]
    assert json.loads(text) == {"oneOf": [{"type": "null"}, *members]}


def test_data_without_a_schema_cannot_be_written() -> None:
    with pytest.raises(DataError, match="use JsonConverter"):
        JsonSchemaFormat({}).schema_of(Shape(None))


def test_a_default_of_another_type_is_an_error() -> None:
    with pytest.raises(DataError, match="default of type BYTES"):
        made(ConnectSchema(SchemaType.BYTES, default=5))
