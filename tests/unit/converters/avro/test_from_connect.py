"""Avro schemas of Connect schemas: rules of AvroData's `fromConnectSchema` of which the golden files have no case."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas.from_connect import avro_schema_text
from airflow_kconnect.converters.avro.schemas.names import scrubbed
from tests.unit.converters.avro.corpus import COLOUR
from tests.unit.converters.avro.test_to_connect import connect

INT32 = ConnectSchema(SchemaType.INT32)
STRING = ConnectSchema(SchemaType.STRING)
PLACE = struct(("x", INT32), name="a.b.Place")


def avro(schema: ConnectSchema, **settings: bool) -> Any:
    text = avro_schema_text(schema, AvroSettings(**settings))
    fastavro.parse_schema(json.loads(text))
    return json.loads(text)


def field(schema: ConnectSchema, **settings: bool) -> Any:
    """A field of that schema, in a record."""
    return avro(struct(("f", schema)), **settings)["fields"][0]


def map_of(keys: ConnectSchema, values: ConnectSchema = INT32, name: str | None = None) -> ConnectSchema:
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values, name=name)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (
            ConnectSchema(SchemaType.INT32, name="n", version=2, doc="d", parameters={"a": "b"}, default=5),
            '{"type":"int","connect.doc":"d","connect.version":2,"connect.parameters":{"a":"b"},"connect.default":5,"connect.name":"n"}',
        ),
        (ConnectSchema(SchemaType.INT32, optional=True, default=5), '[{"type":"int","connect.default":5},"null"]'),
        (
            ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2", "connect.decimal.precision": "9"}),
            '{"type":"bytes","scale":2,"precision":9,"connect.parameters":{"scale":"2","connect.decimal.precision":"9"},'
            '"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}',
        ),
        (
            map_of(INT32, name="a.M"),
            '{"type":"array","items":{"type":"record","name":"M","namespace":"a","fields":[{"name":"key","type":"int"},'
            '{"name":"value","type":"int"}],"connect.internal.type":"MapEntry"},"connect.name":"a.M"}',
        ),
        (
            struct(("f", INT32)),
            '{"type":"record","name":"ConnectDefault","namespace":"io.confluent.connect.avro","fields":[{"name":"f","type":"int"}]}',
        ),
        (
            struct(("f", PLACE), ("g", PLACE.as_optional()), name="a.b.R"),
            '{"type":"record","name":"R","namespace":"a.b","fields":[{"name":"f","type":{"type":"record","name":"Place","fields":'
            '[{"name":"x","type":"int"}],"connect.name":"a.b.Place"}},{"name":"g","type":["null","Place"],"default":null}],'
            '"connect.name":"a.b.R"}',
        ),
        (
            struct(("f", PLACE), ("g", PLACE), name="R"),
            '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"record","name":"Place","namespace":"a.b","fields":'
            '[{"name":"x","type":"int"}],"connect.name":"a.b.Place"}},{"name":"g","type":"a.b.Place"}],"connect.name":"R"}',
        ),
        (
            ConnectSchema(SchemaType.STRING, parameters={"avro.java.string": "String"}),
            '{"type":"string","connect.parameters":{"avro.java.string":"String"},"avro.java.string":"String"}',
        ),
    ],
)
def test_texts(schema: ConnectSchema, text: str) -> None:
    assert avro_schema_text(schema, AvroSettings()) == text


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (ConnectSchema(SchemaType.BOOLEAN, default=False), False),
        (ConnectSchema(SchemaType.FLOAT32, default=0.1), 0.1),
        (ConnectSchema(SchemaType.STRING, default="x"), "x"),
        (ConnectSchema(SchemaType.BYTES, default=b"\xff\0"), "\u00ff\0"),
        (ConnectSchema(SchemaType.INT32, name=DATE, default=date(1970, 1, 3)), 2),
        (ConnectSchema(SchemaType.INT64, name=TIMESTAMP, default=datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)), 2000),
        (ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"}, default=Decimal("-1.28")), "\u0080"),
        (ConnectSchema(SchemaType.ARRAY, value_schema=INT32, default=(1, 2)), [1, 2]),
        (ConnectSchema(SchemaType.MAP, key_schema=STRING, value_schema=INT32, default={"a": 1}), {"a": 1}),
        (ConnectSchema(SchemaType.STRUCT, name="p.P", fields=PLACE.fields, default={"x": 4}), {"x": 4}),
    ],
    ids=str,
)
def test_defaults_are_those_of_field_and_type(schema: ConnectSchema, expected: Any) -> None:
    found = field(schema)
    assert found["default"] == expected
    assert found["type"]["connect.default"] == expected


def test_defaults_that_avro_does_not_allow_are_left_out() -> None:
    assert "default" not in field(ConnectSchema(SchemaType.FLOAT64, default=math.nan))
    entries = ConnectSchema(SchemaType.MAP, key_schema=INT32, value_schema=INT32, default={1: 2})
    assert "default" not in field(entries)


def test_a_default_of_an_avro_field_stays_there() -> None:
    flag = {"io.confluent.connect.avro.field.default": "true"}
    assert field(ConnectSchema(SchemaType.INT32, default=5, parameters=flag)) == {
        "name": "f",
        "type": "int",
        "default": 5,
    }


def test_docs_come_from_parameters() -> None:
    given = {"io.confluent.connect.avro.record.doc": "of R", "io.confluent.connect.avro.field.doc.f": "of f"}
    found = avro(ConnectSchema(SchemaType.STRUCT, fields=struct(("f", INT32)).fields, parameters=given))
    assert (found["doc"], found["fields"][0]["doc"]) == ("of R", "of f")


def test_docs_of_fields_can_be_those_of_their_schemas() -> None:
    found = field(ConnectSchema(SchemaType.INT32, doc="of f"), discard_type_doc_default=True)
    assert found["doc"] == "of f"


def test_meta_data_can_be_left_out() -> None:
    schema = ConnectSchema(SchemaType.INT32, name=DATE, version=1, doc="d")
    assert avro(schema, connect_meta_data=False) == {"type": "int", "logicalType": "date"}


@pytest.mark.parametrize("settings", [{"enhanced_avro_schema_support": True}, {"generalized_sum_type_support": True}])
def test_an_enum_survives(settings: dict[str, bool]) -> None:
    schema = connect({**COLOUR, "doc": "colours", "default": "RED"}, **settings)
    found = avro(schema, **settings)
    assert {key: found[key] for key in ("type", "name", "symbols", "namespace")} == COLOUR
    assert (found["doc"], found["default"]) == ("colours", "RED")
    assert connect(found, **settings) == schema


def test_optional_keys_can_be_allowed() -> None:
    schema = map_of(STRING.as_optional())
    assert avro(schema)["type"] == "array"
    assert avro(schema, allow_optional_map_keys=True) == {"type": "map", "values": "int"}


@pytest.mark.parametrize(
    "settings", [{}, {"enhanced_avro_schema_support": True}, {"generalized_sum_type_support": True}]
)
def test_a_union_survives(settings: dict[str, bool]) -> None:
    schema = connect(["null", "int", "string", {**COLOUR, "type": "fixed", "size": 2}], **settings)
    found = avro(schema, **settings)
    assert [b if isinstance(b, str) else b["name"] for b in found] == ["null", "int", "string", "Colour"]
    assert connect(found, **settings) == schema


def test_parameters_of_a_type_that_is_used_twice_are_those_of_fields() -> None:
    first = ConnectSchema(SchemaType.STRUCT, name="P", fields=PLACE.fields, parameters={"a": "1"})
    second = ConnectSchema(SchemaType.STRUCT, name="P", fields=PLACE.fields, parameters={"a": "2"})
    found = avro(struct(("f", first), ("g", second), name="R"))
    assert found["fields"][1] == {"name": "g", "type": "P", "connect.parameters": {"a": "2"}}
    assert connect(found).fields[1].schema == second


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (struct(("a-b", INT32)), "Field 'a-b' has a name that Avro does not allow: set `scrub.invalid.names` to true"),
        (struct(("a", INT32), name="a-b.C"), "Schema name 'a-b.C' is not a valid name"),
        (
            struct(("a", PLACE), ("b", struct(("y", INT32), name=PLACE.name))),
            "Two different schemas have the name a.b.Place",
        ),
        (struct(("a", map_of(INT32)), ("b", map_of(INT32, STRING))), "Two different schemas have the name .*MapEntry"),
        (
            struct(("a", INT32), ("b", ConnectSchema(SchemaType.INT8)), name="io.confluent.connect.avro.Union"),
            "Duplicate in union",
        ),
        (ConnectSchema(SchemaType.BYTES, name=DECIMAL), "scale parameter not found"),
        (
            ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "1", "connect.decimal.precision": "x"}),
            "expected a number of digits",
        ),
        (
            ConnectSchema(SchemaType.BYTES, name="F", parameters={"connect.fixed.size": "x"}),
            "expected a number of bytes",
        ),
    ],
    ids=str,
)
def test_schemas_without_an_avro_schema(schema: ConnectSchema, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        avro(schema)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ok_1", "ok_1"),
        ("a-b", "a_b"),
        ("1a", "x1a"),
        ("a b", "a_b"),
        ("a.b", "a_b"),
        ("ä", "_C3_A4"),
        ("$", "_24"),
        ("~", "_7E"),
    ],
)
def test_invalid_names_can_be_scrubbed(name: str, expected: str) -> None:
    assert scrubbed(name) == expected
    found = avro(struct((name, INT32), name=f"n-s.{expected}"), scrub_invalid_names=True)
    assert (found["namespace"], found["fields"][0]["name"]) == ("n_s", expected)


def test_names_that_become_equal_are_refused() -> None:
    with pytest.raises(DataError, match="have the same name in Avro"):
        avro(struct(("a-b", INT32), ("a b", INT32)), scrub_invalid_names=True)
