"""Protobuf schemas of Connect schemas, as ProtobufData makes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    SCHEMALESS,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.types import arrow_type

INT32 = ConnectSchema(SchemaType.INT32)
STRING = ConnectSchema(SchemaType.STRING)
PREFIX = "io.confluent.connect.protobuf"


def text(schema: ConnectSchema, **values: Any) -> str:
    settings = {name.replace("_", "."): value for name, value in values.items()}
    return ProtobufFormat(settings).schema_of(Shape(schema)).text


def field_lines(*members: tuple[str, ConnectSchema], **values: Any) -> list[str]:
    """The lines of a message with these fields."""
    lines = text(struct(*members, name="M"), **values).splitlines()
    return [line.strip() for line in lines[lines.index("message M {") + 1 : -1]]


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (SchemaType.INT32, "int32"),
        (SchemaType.INT64, "int64"),
        (SchemaType.FLOAT32, "float"),
        (SchemaType.FLOAT64, "double"),
        (SchemaType.BOOLEAN, "bool"),
        (SchemaType.STRING, "string"),
        (SchemaType.BYTES, "bytes"),
    ],
)
def test_primitive_types(type_: SchemaType, kind: str) -> None:
    assert field_lines(("f", ConnectSchema(type_))) == [f"{kind} f = 1;"]


def test_a_file_has_package_imports_and_message() -> None:
    schema = struct(("at", ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1)), name="a.b.M")
    assert text(schema) == (
        'syntax = "proto3";\npackage a.b;\n\nimport "google/protobuf/timestamp.proto";\n\n'
        "message M {\n  .google.protobuf.Timestamp at = 1;\n}\n"
    )


@pytest.mark.parametrize(
    ("type_", "name", "message"),
    [
        (SchemaType.INT32, DATE, ".google.type.Date"),
        (SchemaType.INT32, TIME, ".google.type.TimeOfDay"),
        (SchemaType.INT64, TIMESTAMP, ".google.protobuf.Timestamp"),
    ],
)
def test_logical_types(type_: SchemaType, name: str, message: str) -> None:
    assert field_lines(("f", ConnectSchema(type_, name=name))) == [f"{message} f = 1;"]


def test_a_decimal_keeps_scale_and_precision() -> None:
    parameters = {"scale": "2", "connect.decimal.precision": "10"}
    (line,) = field_lines(("f", ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters=parameters)))
    params = '{params: [{key: "precision", value: "10"}, {key: "scale", value: "2"}]}'
    assert line == f".confluent.type.Decimal f = 1 [(confluent.field_meta) = {params}];"


@pytest.mark.parametrize("type_", [SchemaType.INT8, SchemaType.INT16])
def test_small_integers_are_annotated(type_: SchemaType) -> None:
    (line,) = field_lines(("f", ConnectSchema(type_)))
    assert line == f'int32 f = 1 [(confluent.field_meta) = {{params: [{{key: "connect.type", value: "{type_}"}}]}}];'


def test_tags_and_types_that_were_remembered_are_used() -> None:
    parameters = {f"{PREFIX}.Tag": "7", f"{PREFIX}.Type": "fixed64"}
    schema = ConnectSchema(SchemaType.INT64, parameters=parameters)
    assert field_lines(("f", schema)) == ["fixed64 f = 7;"]


def test_fields_without_a_tag_have_numbers_that_are_free() -> None:
    tagged = ConnectSchema(SchemaType.INT32, parameters={f"{PREFIX}.Tag": "2"})
    assert field_lines(("a", INT32), ("b", tagged), ("c", INT32)) == ["int32 a = 1;", "int32 b = 2;", "int32 c = 3;"]


def test_structs_are_nested_messages() -> None:
    inner = struct(("a", INT32), name="x.Inner", optional=True)
    assert field_lines(("f", inner)) == ["Inner f = 1;", "message Inner {", "int32 a = 1;", "}"]


def test_a_struct_with_the_name_of_its_field_has_a_suffix() -> None:
    assert field_lines(("f", struct(("a", INT32), name="f")))[0] == "fMessage f = 1;"


def test_structs_without_names_are_numbered() -> None:
    lines = text(struct(("a", struct(("b", INT32))), ("c", struct(("d", INT32))))).splitlines()
    assert "message ConnectDefault1 {" in lines
    assert "  ConnectDefault2 a = 1;" in lines
    assert "  ConnectDefault3 c = 2;" in lines


def test_arrays_are_repeated() -> None:
    schema = ConnectSchema(SchemaType.ARRAY, True, value_schema=STRING.as_optional())
    assert field_lines(("f", schema), optional_for_nullables=True) == ["repeated string f = 1;"]


def test_maps_are_repeated_entries() -> None:
    schema = ConnectSchema(SchemaType.MAP, name="my_map", key_schema=STRING, value_schema=INT32)
    assert field_lines(("f", schema)) == [
        "repeated MyMapEntry f = 1;",
        "message MyMapEntry {",
        "string key = 1;",
        "int32 value = 2;",
        "}",
    ]


def test_an_enum_is_written_from_its_parameters() -> None:
    parameters = {f"{PREFIX}.Enum": "E", f"{PREFIX}.Enum.A": "0", f"{PREFIX}.Enum.B": "5"}
    schema = ConnectSchema(SchemaType.STRING, name="E", parameters=parameters)
    assert field_lines(("f", schema)) == ["E f = 1;", "enum E {", "A = 0;", "B = 5;", "}"]


@pytest.mark.parametrize("tagged", [True, False])
def test_a_union_is_a_oneof(tagged: bool) -> None:
    def member(schema: ConnectSchema, tag: int) -> ConnectSchema:
        parameters = {f"{PREFIX}.Tag": str(tag)} if tagged else None
        return ConnectSchema(schema.type, True, parameters=parameters)

    union = struct(("a", member(INT32, 2)), ("b", member(STRING, 3)), name=f"{PREFIX}.Union.choice", optional=True)
    assert field_lines(("choice_0", union)) == ["oneof choice {", "int32 a = 2;", "string b = 3;", "}"]


def test_optional_fields_can_have_the_label() -> None:
    assert field_lines(("f", INT32.as_optional()), optional_for_nullables=True) == ["optional int32 f = 1;"]


def test_optional_fields_can_be_wrappers() -> None:
    lines = field_lines(("f", INT32.as_optional()), ("g", INT32), wrapper_for_nullables=True)
    assert lines == [".google.protobuf.Int32Value f = 1;", "int32 g = 2;"]


@pytest.mark.parametrize("settings", [{"optional.for.nullables": True}, {"wrapper.for.nullables": True}])
def test_nulls_are_kept_by_labels_and_by_wrappers(settings: dict[str, bool]) -> None:
    schema = struct(("f", INT32.as_optional()), ("g", STRING.as_optional()), name="M")
    format_, rows = ProtobufFormat(settings), [{"f": None, "g": ""}, {"f": 0, "g": None}]
    registered = format_.schema_of(Shape(schema))
    payloads, _ = format_.encoder(registered, Shape(schema)).encode(pa.array(rows, arrow_type(schema)))
    assert format_.decoder(registered, payloads[0].as_py()).decode(payloads)[0].to_pylist() == rows


@pytest.mark.parametrize(
    ("type_", "value"),
    [(SchemaType.INT8, 5), (SchemaType.INT64, -1), (SchemaType.STRING, "x"), (SchemaType.BYTES, b"x")],
)
def test_a_primitive_value_is_a_wrapper_message(type_: SchemaType, value: Any) -> None:
    format_, shape = ProtobufFormat({}), Shape(ConnectSchema(type_))
    registered = format_.schema_of(shape)
    payloads, _ = format_.encoder(registered, shape).encode(pa.array([value], arrow_type(shape.schema)))
    assert format_.decoder(registered, payloads[0].as_py()).decode(payloads)[0].to_pylist() == [value]


def test_invalid_names_are_scrubbed_on_demand() -> None:
    schema = struct(("a-b", INT32), ("_c", INT32), name="my-type")
    with pytest.raises(DataError, match=r"scrub\.invalid\.names"):
        text(schema)
    lines = text(schema, scrub_invalid_names=True).splitlines()
    assert lines[-4:] == ["message my_type {", "  int32 a_b = 1;", "  int32 x_c = 2;", "}"]


ARRAY = ConnectSchema(SchemaType.ARRAY, value_schema=INT32)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (ARRAY, "Unsupported root schema of type array"),
        (ConnectSchema(SchemaType.INT64, name=TIMESTAMP), "Unsupported root schema of type org.apache.kafka"),
        (struct(("f", ConnectSchema(SchemaType.ARRAY, value_schema=ARRAY))), "Array cannot be nested"),
        (
            struct(("f", ConnectSchema(SchemaType.MAP, key_schema=STRING, value_schema=ARRAY)), name="M"),
            "arrays and maps cannot be keys or values of a map",
        ),
        (
            struct(("f", struct(("a", INT32), name="I")), ("g", struct(("b", INT32), name="I")), name="M"),
            "Two different structs in M have the same name I",
        ),
        (struct(("f", INT32), ("f", INT32)), "is already defined"),
    ],
)
def test_what_protobuf_cannot_hold_is_refused(schema: ConnectSchema, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        text(schema)


def test_data_without_a_schema_are_refused() -> None:
    with pytest.raises(DataError, match=r"Data without a schema"):
        ProtobufFormat({}).schema_of(SCHEMALESS)
