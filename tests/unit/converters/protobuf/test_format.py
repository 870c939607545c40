"""The Protobuf format as a converter uses it: files, references, indexes, names, keys, settings for reading."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.protobuf.converter import ProtobufConverter
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.protobuf.corpus import CASES, FIRST, message_of, registered


def read(schema: RegisteredSchema, *payloads: bytes, **values: Any) -> list[Any]:
    format_ = ProtobufFormat({name.replace("_", "."): value for name, value in values.items()})
    data, errors = format_.decoder(schema, payloads[0]).decode(pa.array(payloads, pa.binary()))
    assert errors is None
    rows: list[Any] = data.to_pylist()
    return rows


def test_keys_and_defaults_are_those_of_protobuf_data_config() -> None:
    assert ProtobufFormat.config().parse({}) == {
        "generalized.sum.type.support": False,
        "ignore.default.for.nullables": False,
        "enhanced.protobuf.schema.support": False,
        "scrub.invalid.names": False,
        "int.for.enums": False,
        "optional.for.nullables": False,
        "optional.for.proto2": True,
        "wrapper.for.nullables": False,
        "wrapper.for.raw.primitives": True,
        "generate.struct.for.nulls": False,
        "generate.index.for.unions": True,
        "flatten.unions": False,
        "schemas.cache.config": 1000,
    }


def test_a_wrong_value_of_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"flatten\.unions"):
        ProtobufFormat.config().parse({"flatten.unions": "maybe"})


def test_the_converter_has_the_keys_of_registry_and_format() -> None:
    keys = ProtobufConverter.config().parse({"converter.type": "key", "schema.registry.url": "http://registry"})
    assert keys.keys() >= {"schema.registry.url", "auto.register.schemas", "flatten.unions"}


# Message indexes


@pytest.mark.parametrize("indexes", [b"\x00", b"\x02\x00", b"\x02\x02", b"\x04\x02\x00"])
def test_message_indexes_select_a_type(indexes: bytes) -> None:
    assert ProtobufFormat({}).selector(indexes + b"rest") == indexes


@pytest.mark.parametrize("payload", [b"", b"\x01", b"\x80", b"\x04\x02"])
def test_a_payload_without_message_indexes_is_refused(payload: bytes) -> None:
    with pytest.raises(DataError, match="does not begin with message indexes"):
        ProtobufFormat({}).selector(payload)


def test_a_message_of_a_nested_type_is_read() -> None:
    schema = registered("message A {} message B { message C { int32 f = 1; } }")
    assert read(schema, b"\x04\x02\x00\x08\x05") == [{"f": 5}]


@pytest.mark.parametrize(
    ("body", "name"), [("package p; message A {} message B {}", "p.A"), ("enum E { A = 0; }", None)]
)
def test_the_first_message_type_names_the_record(body: str, name: str | None) -> None:
    assert ProtobufFormat({}).record_name(registered(body)) == name


# Files


def test_types_of_references_are_found() -> None:
    deeper = registered("package x; message Deeper { int32 a = 1; }")
    inner = registered("import 'x/deeper.proto'; message Inner { x.Deeper d = 1; }", ("x/deeper.proto", deeper))
    outer = registered("import 'inner.proto'; message M { Inner f = 1; }", ("inner.proto", inner))
    assert read(outer, FIRST + b"\x0a\x04\x0a\x02\x08\x05") == [{"f": {"d": {"a": 5}}}]


def test_a_reference_hides_a_file_that_is_known() -> None:
    date = registered(
        "package google.type; message Date { int32 year = 1; int32 month = 2; int32 day = 3; int32 x = 4; }"
    )
    schema = registered(
        "import 'google/type/date.proto'; message M { google.type.Date f = 1; }", ("google/type/date.proto", date)
    )
    assert "x" in message_of(schema, "google.type.Date").DESCRIPTOR.fields_by_name


@pytest.mark.parametrize("name", ["/etc/x.proto", "../x.proto", "a/../../x.proto", "registered_schema.proto"])
def test_a_reference_that_is_not_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="which is not a file name"):
        compiled(registered("message M {}", (name, registered("message N {}"))))


def test_a_descriptor_in_base64_is_a_schema_too() -> None:
    file = message_of(CASES["Timestamp"].registered, "M").DESCRIPTOR.file
    schema = RegisteredSchema("PROTOBUF", base64.b64encode(file.serialized_pb).decode())
    assert read(schema, *CASES["Timestamp"].payloads()) == CASES["Timestamp"].read


def test_references_in_base64_are_read_too() -> None:
    """confluent-kafka's serializer registers all files like this."""
    inner = registered("import 'google/protobuf/timestamp.proto'; message N { google.protobuf.Timestamp at = 1; }")
    file = message_of(inner, "N").DESCRIPTOR.file
    reference = RegisteredSchema("PROTOBUF", base64.b64encode(file.serialized_pb).decode())
    body = "import 'deep/n.proto'; message M { N n = 1; }"
    schema = registered(body, ("deep/n.proto", reference))
    again = message_of(schema, "M").DESCRIPTOR.file
    in_base64 = RegisteredSchema(
        "PROTOBUF", base64.b64encode(again.serialized_pb).decode(), (("deep/n.proto", reference),)
    )
    assert read(schema, FIRST + b"\x0a\x00") == read(in_base64, FIRST + b"\x0a\x00") == [{"n": {"at": None}}]


def test_maps_that_java_registers_as_entries_are_read() -> None:
    schema = registered(
        "message M { repeated FEntry f = 1; "
        "message FEntry { string key = 1; int32 value = 2; option map_entry = true; } }"
    )
    assert read(schema, *CASES["map"].payloads()) == CASES["map"].read


def test_the_last_of_equal_keys_wins() -> None:
    schema = registered("message M { repeated FEntry f = 1; message FEntry { string key = 1; int32 value = 2; } }")
    message = message_of(schema, "M")(f=[{"key": "a", "value": 1}, {"key": "a", "value": 2}])
    assert read(schema, FIRST + message.SerializeToString()) == [{"f": [("a", 2)]}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("message M { nonsense }", "is not valid: 1:"),
        ("import 'missing.proto'; message M {}", "missing.proto: File not found"),
        ("AAAA", "neither a .proto file nor a descriptor in base64"),
    ],
)
def test_an_invalid_schema_is_refused(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        compiled(RegisteredSchema("PROTOBUF", text))


# Settings for reading


def test_enums_can_be_read_as_numbers() -> None:
    assert read(CASES["enum"].registered, FIRST + b"\x08\x05", int_for_enums=True) == [{"f": 5}]


def test_unions_can_be_flattened() -> None:
    rows = read(CASES["oneof"].registered, *CASES["oneof"].payloads()[:2], flatten_unions=True)
    assert rows == [{"a": 0, "b": None, "c": None, "d": 0}, {"a": None, "b": "x", "c": None, "d": 0}]


def test_messages_that_are_not_set_can_be_structs_of_defaults() -> None:
    rows = read(CASES["nested message"].registered, FIRST, generate_struct_for_nulls=True)
    assert rows == [{"f": {"a": "", "b": {"c": 0}}}]


def test_optionals_of_proto2_can_be_read_as_defaults() -> None:
    rows = read(CASES["optional of proto2"].registered, FIRST + b"\x10\x01", optional_for_proto2=False)
    assert rows == [{"f": "", "g": 1}]


def test_wrappers_can_be_read_as_values() -> None:
    rows = read(CASES["wrapper"].registered, *CASES["wrapper"].payloads(), wrapper_for_nullables=True)
    assert rows == [{"f": 3}, {"f": None}]


WRAPPER = RegisteredSchema(
    "PROTOBUF", 'syntax = "proto3"; package google.protobuf; message Int32Value { int32 value = 1; }'
)


@pytest.mark.parametrize(("raw", "expected"), [(True, 5), (False, {"value": 5})])
def test_a_wrapper_message_is_read_as_a_value_or_a_struct(raw: bool, expected: Any) -> None:
    assert read(WRAPPER, FIRST + b"\x08\x05", wrapper_for_raw_primitives=raw) == [expected]
