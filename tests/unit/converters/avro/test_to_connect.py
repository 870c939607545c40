"""Connect schemas of Avro schemas: rules of AvroData's `toConnectSchema` of which the golden file has no case."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import DECIMAL, TIMESTAMP, ConnectSchema, Field, SchemaType, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.converters.avro.schemas.to_connect import connect_schema
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.avro.corpus import COLOUR, INNER, OTHER, decimal, fixed, nullable, record

ENUM = "io.confluent.connect.avro.Enum"
GENERALIZED = "org.apache.kafka.connect.data.Enum"
FLAG = "io.confluent.connect.avro.field.default"
STRING = ConnectSchema(SchemaType.STRING)
INT32 = ConnectSchema(SchemaType.INT32)
INT64 = ConnectSchema(SchemaType.INT64)


def connect(avro: Any, version: int | None = None, **settings: bool) -> ConnectSchema:
    document = parse_schema(RegisteredSchema("AVRO", json.dumps(avro)))
    return connect_schema(document.root, AvroSettings(**settings), version)


@pytest.mark.parametrize(
    ("avro", "expected"),
    [
        ({"type": "int", "logicalType": "other"}, INT32),
        ({"type": "int", "logicalType": "other", "connect.type": "int8"}, INT32),
        (
            {"type": "long", "logicalType": "TIMESTAMP-MILLIS"},
            ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1),
        ),
        (["int", "null"], INT32.as_optional()),
        (["int"], INT32),
        (
            {"type": "string", "connect.name": "my.Name", "connect.version": 3, "connect.doc": "d"},
            ConnectSchema(SchemaType.STRING, name="my.Name", version=3, doc="d"),
        ),
        ({"type": "string", "connect.parameters": {"a": "b"}}, ConnectSchema(SchemaType.STRING, parameters={"a": "b"})),
        ({"type": "string", "avro.own": 7}, ConnectSchema(SchemaType.STRING, parameters={"avro.own": "7"})),
        (nullable({"type": "int", "connect.default": 5}), ConnectSchema(SchemaType.INT32, optional=True, default=5)),
        ({**INNER, "namespace": None}, struct(("a", INT64), name="Inner")),
        ({**INNER, "name": "ConnectDefault", "namespace": "io.confluent.connect.avro"}, struct(("a", INT64))),
        ({**INNER, "name": "ConnectDefault2", "namespace": "io.confluent.connect.avro"}, struct(("a", INT64))),
        ({**INNER, "connect.name": "other.Name"}, struct(("a", INT64), name="other.Name")),
    ],
    ids=str,
)
def test_attributes_of_types(avro: Any, expected: ConnectSchema) -> None:
    assert connect(avro) == expected


@pytest.mark.parametrize(
    ("avro", "given"),
    [
        (decimal(2, 64), {"scale": "2"}),
        (decimal(2, 10), {"scale": "2", "connect.decimal.precision": "10"}),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9}, {"scale": "0", "connect.decimal.precision": "9"}),
        (
            fixed(5, logicalType="decimal", precision=10, scale=1),
            {"scale": "1", "connect.decimal.precision": "10", "connect.fixed.size": "5"},
        ),
    ],
    ids=str,
)
def test_decimals(avro: Any, given: dict[str, str]) -> None:
    assert connect(avro) == ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters=given)


def test_an_enum_has_numbers_if_sums_are_generalized() -> None:
    numbers = {GENERALIZED: "x.Colour", **{f"{GENERALIZED}.{s}": str(n) for n, s in enumerate(COLOUR["symbols"])}}
    found = connect(COLOUR, generalized_sum_type_support=True)
    assert found == ConnectSchema(SchemaType.STRING, name="x.Colour", parameters=numbers)


def test_docs_and_default_of_an_enum_are_parameters() -> None:
    found = connect({**COLOUR, "doc": "colours", "default": "RED"}).parameters or {}
    assert found["io.confluent.connect.avro.enum.doc.Colour"] == "colours"
    assert found["io.confluent.connect.avro.enum.default.Colour"] == "RED"


@pytest.mark.parametrize(
    ("settings", "name", "members"),
    [
        ({}, "io.confluent.connect.avro.Union", ["int", "Inner", "Other", "Colour"]),
        (
            {"enhanced_avro_schema_support": True},
            "io.confluent.connect.avro.Union",
            ["int", "x.Inner", "x.Other", "x.Colour"],
        ),
        (
            {"generalized_sum_type_support": True},
            "connect_union_0",
            ["connect_union_field_1", "connect_union_field_2", "connect_union_field_3", "connect_union_field_4"],
        ),
    ],
)
def test_a_union_is_a_struct_with_a_member_for_each_branch(
    settings: dict[str, bool], name: str, members: list[str]
) -> None:
    found = connect(["null", "int", INNER, OTHER, COLOUR], **settings)
    assert (found.name, found.optional) == (name, True)
    assert [member.name for member in found.fields] == members
    assert all(member.schema.optional for member in found.fields)


def test_records_of_one_name_need_full_names_in_a_union() -> None:
    branches = [INNER, {**INNER, "namespace": "y"}]
    assert [m.name for m in connect(branches, enhanced_avro_schema_support=True).fields] == ["x.Inner", "y.Inner"]
    with pytest.raises(DataError, match="Multiple union schemas map to the Connect union field name Inner"):
        connect(branches)


def test_a_union_of_one_type_can_stay_a_union() -> None:
    found = connect(["int"], flatten_singleton_unions=False)
    assert found.fields == (Field("int", INT32.as_optional()),)


def field(type_: Any, **attributes: Any) -> Any:
    return record({"name": "f", "type": type_, **attributes})


@pytest.mark.parametrize(
    ("type_", "default", "expected"),
    [
        ("boolean", True, True),
        ("int", 7, 7),
        ({"type": "int", "connect.type": "int8"}, 7, 7),
        ("float", 1.5, 1.5),
        ("double", 2, 2.0),
        ("string", "x", "x"),
        ("bytes", "\u00ff\u0000", b"\xff\0"),
        (COLOUR, "RED", "RED"),
        (fixed(2), "ab", b"ab"),
        (decimal(), "\u0001\u0000", Decimal("2.56")),
        ({"type": "int", "logicalType": "date"}, 1, date(1970, 1, 2)),
        ({"type": "int", "logicalType": "time-millis"}, 5, 5),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1000, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ({"type": "array", "items": "int"}, [1, 2], (1, 2)),
        ({"type": "map", "values": "int"}, {"a": 1}, {"a": 1}),
        (INNER, {"a": 3}, {"a": 3}),
        (["int", "string"], 3, {"int": 3}),
        ({"type": "array", "items": nullable("int")}, [1, None], (1, None)),
    ],
    ids=str,
)
def test_defaults_of_fields(type_: Any, default: Any, expected: Any) -> None:
    found = connect(field(type_, default=default)).fields[0].schema
    assert found.default == expected
    assert (found.parameters or {})[FLAG] == "true"


@pytest.mark.parametrize(
    ("type_", "default"),
    [("int", "x"), ("string", 1), ("int", 2**31), (COLOUR, 3), (INNER, {}), ({"type": "array", "items": "int"}, 1)],
)
def test_invalid_defaults_are_ignored(type_: Any, default: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert connect(field(type_, default=default)).fields[0].schema.default is None
    assert "Ignoring invalid default of field f" in caplog.text


def test_the_default_of_a_nullable_field_is_that_of_its_type() -> None:
    assert connect(field(["string", "null"], default="x")).fields[0].schema == STRING.as_optional()
    typed = {"type": "string", "connect.default": "x"}
    assert connect(field([typed, "null"], default="x")).fields[0].schema.default == "x"


def test_docs_of_records_and_fields_are_parameters() -> None:
    found = connect({**field("int", doc="of f"), "doc": "of R"})
    assert found.parameters == {
        "io.confluent.connect.avro.record.doc": "of R",
        "io.confluent.connect.avro.field.doc.f": "of f",
    }
    assert found.doc is None


def test_only_docs_and_defaults_of_fields_can_be_kept() -> None:
    found = connect({**field("int", doc="of f", default=1), "doc": "of R"}, discard_type_doc_default=True)
    assert found.parameters == {"connect.record.doc": "of R"}
    assert found.fields[0].schema == replace(INT32, doc="of f", default=1)


def test_without_meta_data_names_and_defaults_remain() -> None:
    avro = {
        "type": "int",
        "connect.name": "n",
        "connect.version": 2,
        "connect.doc": "d",
        "connect.parameters": {"a": "b"},
    }
    found = connect(field(avro, default=1, doc="x"), connect_meta_data=False)
    assert found.parameters is None
    assert found.fields[0].schema == ConnectSchema(SchemaType.INT32, name="n", version=2, default=1)


def test_parameters_of_a_field_are_added_to_those_of_its_type() -> None:
    found = connect(field(COLOUR, **{"connect.parameters": {"own": "1"}})).fields[0].schema.parameters or {}
    assert found["own"] == "1" and found[ENUM] == "x.Colour"


@pytest.mark.parametrize(("own", "registered", "expected"), [(None, 4, 4), (2, 4, 2), (None, None, None)])
def test_the_version_is_connects_or_the_registrys(
    own: int | None, registered: int | None, expected: int | None
) -> None:
    avro = INNER if own is None else {**INNER, "connect.version": own}
    assert connect(avro, registered).version == expected


@pytest.mark.parametrize(
    ("avro", "problem"),
    [
        ("null", "Standalone null schemas are not supported by this converter"),
        (["null"], "Standalone null schemas"),
        ({"type": "int", "connect.type": "int9"}, "expected int8 or int16"),
        ({"type": "int", "logicalType": "date", "connect.version": 2}, "Mismatched versions"),
        ({"type": "int", "logicalType": "date", "connect.name": "x"}, "Mismatched names"),
        ({"type": "int", "connect.name": 1}, "Invalid schema name"),
        ({"type": "int", "connect.version": "x"}, "Invalid Connect version found: x"),
        ({"type": "int", "connect.parameters": 1}, "not a JSON object"),
        ({"type": "int", "connect.parameters": {"a": 1}}, "not a string"),
        (decimal(39, 50), "Invalid scale"),
        (decimal(-1, 5), "Invalid scale"),
        (
            field({"type": "array", "items": {**INNER, "connect.internal.type": "MapEntry"}}),
            "do not match the expected",
        ),
        (
            record(("deep", nullable({"type": "array", "items": nullable("x.y.R")}))),
            r"Field deep\.\[\] .*type x.y.R contains itself",
        ),
    ],
    ids=str,
)
def test_schemas_without_a_connect_schema(avro: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        connect(avro)


def test_a_schema_that_nests_too_deeply_is_refused() -> None:
    avro: Any = "int"
    for _ in range(20):
        avro = {"type": "array", "items": avro}
    with pytest.raises(DataError, match="nests more than 16 levels"):
        connect(avro)


def test_a_schema_that_grows_too_large_is_refused() -> None:
    types = [record(("a", "int"), name="T0")]
    for level in range(1, 14):
        types.append(
            record(*((f"f{n}", types[-1] if n == 0 else f"x.y.T{level - 1}") for n in range(3)), name=f"T{level}")
        )
    with pytest.raises(DataError, match="more than 5,000 fields"):
        connect(types[-1])
