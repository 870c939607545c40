"""Connect schemas of Protobuf schemas, as ProtobufData makes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.registry.wire import encode_indexes
from tests.unit.converters.protobuf.corpus import CASES, FIRST, registered

WRAPPERS = "import 'google/protobuf/wrappers.proto';"
CHOICE = "package p; message M { oneof choice { int32 a = 1; string b = 2; } }"


def shape(body: str, payload: bytes = FIRST, *, syntax: str = "proto3", **values: Any) -> ConnectSchema:
    settings = {name.replace("_", "."): value for name, value in values.items()}
    schema = ProtobufFormat(settings).shape_of(registered(body, syntax=syntax), payload).schema
    assert schema is not None
    return schema


def field(body: str, name: str = "f", **values: Any) -> ConnectSchema:
    """Of a field, without its tag."""
    member = shape(body, **values).field(name)
    assert member is not None
    parameters = dict(member.schema.parameters or {})
    parameters.pop("io.confluent.connect.protobuf.Tag", None)
    return replace(member.schema, parameters=parameters or None)


@pytest.mark.parametrize(
    ("kind", "type_", "given"),
    [
        ("int32", SchemaType.INT32, None),
        ("sint32", SchemaType.INT32, "sint32"),
        ("sfixed32", SchemaType.INT32, "sfixed32"),
        ("uint32", SchemaType.INT64, "uint32"),
        ("fixed32", SchemaType.INT64, "fixed32"),
        ("int64", SchemaType.INT64, None),
        ("uint64", SchemaType.INT64, "uint64"),
        ("sint64", SchemaType.INT64, "sint64"),
        ("fixed64", SchemaType.INT64, "fixed64"),
        ("sfixed64", SchemaType.INT64, "sfixed64"),
        ("float", SchemaType.FLOAT32, None),
        ("double", SchemaType.FLOAT64, None),
        ("bool", SchemaType.BOOLEAN, None),
        ("string", SchemaType.STRING, None),
        ("bytes", SchemaType.BYTES, None),
    ],
)
def test_scalars_are_optional_and_remember_their_type(kind: str, type_: SchemaType, given: str | None) -> None:
    parameters = None if given is None else {"io.confluent.connect.protobuf.Type": given}
    assert field(f"message M {{ {kind} f = 1; }}") == ConnectSchema(type_, True, parameters=parameters)


def test_fields_remember_their_tags() -> None:
    schema = shape("message M { int32 f = 42; }").fields[0].schema
    assert schema.parameters == {"io.confluent.connect.protobuf.Tag": "42"}


@pytest.mark.parametrize(
    ("case", "name", "type_"),
    [
        ("Date", DATE, SchemaType.INT32),
        ("TimeOfDay", TIME, SchemaType.INT32),
        ("Timestamp", TIMESTAMP, SchemaType.INT64),
    ],
)
def test_logical_types(case: str, name: str, type_: SchemaType) -> None:
    assert field(CASES[case].body) == ConnectSchema(type_, True, name=name, version=1)


def test_a_decimal_has_scale_and_precision_of_its_field() -> None:
    parameters = {"scale": "2", "connect.decimal.precision": "10"}
    expected = ConnectSchema(SchemaType.BYTES, True, name=DECIMAL, version=1, parameters=parameters)
    assert field(CASES["Decimal"].body) == expected


def test_a_decimal_without_scale_has_scale_0() -> None:
    body = "import 'confluent/type/decimal.proto'; message M { confluent.type.Decimal f = 1; }"
    assert field(body).parameters == {"scale": "0"}


@pytest.mark.parametrize(("case", "type_"), [("int8", SchemaType.INT8), ("int16", SchemaType.INT16)])
def test_small_integers_are_annotated(case: str, type_: SchemaType) -> None:
    assert field(CASES[case].body).type is type_


def test_an_enum_is_a_string_with_its_values_as_parameters() -> None:
    enum = "io.confluent.connect.protobuf.Enum"
    parameters = {enum: "E", f"{enum}.A": "0", f"{enum}.B": "5"}
    assert field(CASES["enum"].body) == ConnectSchema(SchemaType.STRING, True, name="E", parameters=parameters)


def test_enums_can_be_integers() -> None:
    assert field(CASES["enum"].body, int_for_enums=True).type is SchemaType.INT32


def test_enums_and_unions_can_be_generalized() -> None:
    enum = "org.apache.kafka.connect.data.Enum"
    schema = field(CASES["enum"].body, generalized_sum_type_support=True)
    assert schema.parameters == {enum: "E", f"{enum}.A": "0", f"{enum}.B": "5"}
    union = field(CHOICE, "choice_0", generalized_sum_type_support=True)
    assert (union.name, union.parameters) == ("choice", {"org.apache.kafka.connect.data.Union": "choice"})


def test_a_oneof_is_an_optional_struct_of_optional_members_before_other_fields() -> None:
    schema = shape("message M { int32 f = 1; oneof choice { int32 a = 2; } }", wrapper_for_nullables=True)
    assert [member.name for member in schema.fields] == ["choice_0", "f"]
    union = schema.fields[0].schema
    assert (union.name, union.optional) == ("io.confluent.connect.protobuf.Union.choice", True)
    assert union.fields[0].schema.optional
    assert not schema.fields[1].schema.optional


def test_names_of_unions_can_be_without_index() -> None:
    assert shape(CHOICE, generate_index_for_unions=False).fields[0].name == "choice"


def test_unions_can_be_flattened() -> None:
    assert [member.name for member in shape(CHOICE, flatten_unions=True).fields] == ["a", "b"]


@pytest.mark.parametrize(
    ("enhanced", "names"),
    [
        (False, ("M", "io.confluent.connect.protobuf.Union.choice")),
        (True, ("p.M", "io.confluent.connect.protobuf.Union.p.M.choice")),
    ],
)
def test_names_have_the_package_if_support_is_enhanced(enhanced: bool, names: tuple[str, str]) -> None:
    schema = shape(CHOICE, enhanced_protobuf_schema_support=enhanced)
    assert (schema.name, schema.fields[0].schema.name) == names


def test_a_map_is_named_after_its_entries() -> None:
    schema = field("message M { map<string, int32> my_map = 1; }", "my_map")
    assert (schema.type, schema.name) == (SchemaType.MAP, "my_map")


def test_repeated_entries_of_key_and_value_are_a_map() -> None:
    body = "message M { repeated FEntry f = 1; message FEntry { I key = 1; string value = 2; } message I {} }"
    with pytest.raises(DataError, match=r"Keys of a map that are messages"):
        shape(body)
    assert field(body.replace("I key", "string key")).type is SchemaType.MAP


def test_wrappers_are_structs_or_primitive_values() -> None:
    body = f"{WRAPPERS} message M {{ google.protobuf.Int64Value f = 1; }}"
    assert field(body).type is SchemaType.STRUCT
    assert field(body, wrapper_for_nullables=True) == ConnectSchema(SchemaType.INT64, True)


def test_only_wrappers_are_nullable_if_they_are_used_for_nullables() -> None:
    assert not field("message M { string f = 1; }", wrapper_for_nullables=True).optional


def test_only_fields_with_the_label_are_optional_if_it_is_used_for_nullables() -> None:
    body = "message M { string f = 1; optional string g = 2; }"
    assert not field(body, optional_for_nullables=True).optional
    assert field(body, "g", optional_for_nullables=True).optional


def test_message_indexes_select_the_type() -> None:
    body = "message A {} message B { message C {} message D { int32 f = 1; } }"
    assert shape(body, encode_indexes([1])).name == "B"
    assert shape(body, encode_indexes([1, 1])).name == "D"


def test_the_version_of_the_registry_is_that_of_the_shape() -> None:
    schema = ProtobufFormat({}).shape_of(registered("message M {}", version=3), FIRST).schema
    assert schema is not None and schema.version == 3


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("message M { M f = 1; }", "Field f of the Protobuf schema: type M contains itself"),
        ("message M { I f = 1; } message I { repeated M g = 1; }", "Field f.g of the Protobuf schema: type M contains"),
        ("import 'google/protobuf/struct.proto'; message M { google.protobuf.Struct f = 1; }", "contains itself"),
        (CASES["Decimal"].body.replace('"2"', '"39"'), "Field f of the Protobuf schema: Invalid scale"),
        ("message M { int32 a_0 = 1; oneof a { int32 b = 2; } }", "a oneof and a field have the same name a_0"),
        ("enum E { A = 0; }", "no message type with the indexes"),
    ],
)
def test_what_a_column_cannot_hold_is_refused(body: str, text: str) -> None:
    with pytest.raises(DataError, match=text):
        shape(body)


def test_a_group_is_refused() -> None:
    with pytest.raises(DataError, match=r"groups are not supported"):
        shape("message M { optional group G = 1 { optional int32 a = 1; } }", syntax="proto2")
