"""Connect schemas of JSON Schemas: the rules of JsonSchemaData's `toConnectSchema`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, ConnectSchema, SchemaType, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.documents import Documents
from airflow_kconnect.converters.json_schema.to_connect import ToConnect
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.json_schema.corpus import (
    BYTES,
    ENTRIES,
    INNER,
    STRING_MAP,
    decimal,
    logical,
    nullable,
    number,
    record,
    registered,
)

ENUM = "io.confluent.connect.json.Enum"
GENERALIZED = "org.apache.kafka.connect.data.Enum"
STRING = ConnectSchema(SchemaType.STRING)
BOOLEAN = ConnectSchema(SchemaType.BOOLEAN)
INT64 = ConnectSchema(SchemaType.INT64)
FLOAT64 = ConnectSchema(SchemaType.FLOAT64)


def connect(
    node: Any, *references: tuple[str, RegisteredSchema], version: int | None = None, **settings: Any
) -> ConnectSchema:
    return ToConnect(Documents(registered(node, *references)), JsonSchemaSettings(**settings)).root(version)


def names(schema: ConnectSchema) -> list[str]:
    return [member.name for member in schema.fields]


def member(schema: ConnectSchema, name: str) -> ConnectSchema:
    field = schema.field(name)
    assert field is not None
    return field.schema


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "boolean"}, BOOLEAN),
        ({"type": "integer"}, INT64),
        ({"type": "number"}, FLOAT64),
        ({"type": "string"}, STRING),
        ({"type": "integer", "format": "int32"}, INT64),
        ({"type": ["string"]}, STRING),
        (number("int8"), ConnectSchema(SchemaType.INT8)),
        (number("int16"), ConnectSchema(SchemaType.INT16)),
        (number("int32"), ConnectSchema(SchemaType.INT32)),
        (number("int64"), INT64),
        (number("float32"), ConnectSchema(SchemaType.FLOAT32)),
        (number("float64"), FLOAT64),
        (BYTES, ConnectSchema(SchemaType.BYTES)),
        (logical(DATE, "int32"), ConnectSchema(SchemaType.INT32, name=DATE, version=1)),
        (decimal(3), ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": "3"})),
        ({"type": "array", "items": {"type": "string"}}, ConnectSchema(SchemaType.ARRAY, value_schema=STRING)),
        (STRING_MAP, ConnectSchema(SchemaType.MAP, key_schema=STRING, value_schema=INT64)),
        (ENTRIES, ConnectSchema(SchemaType.MAP, key_schema=INT64, value_schema=STRING.as_optional())),
        (INNER, struct(("a", INT64), name="x.Inner")),
        ({"properties": {"a": {"type": "string"}}}, struct(("a", STRING))),
        ({"minLength": 1}, STRING),
        ({"minimum": 1}, FLOAT64),
        (nullable({"type": "string"}), STRING.as_optional()),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, STRING.as_optional()),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, STRING.as_optional()),
        ({"type": ["string", "null"]}, STRING.as_optional()),
        ({"oneOf": [{"type": "string"}]}, STRING),
        (nullable(INNER), struct(("a", INT64), name="x.Inner", optional=True)),
        ({"type": "string", "enum": ["A"]}, replace(STRING, parameters={ENUM: "", f"{ENUM}.A": "A"})),
        ({"enum": ["A"]}, replace(STRING, parameters={ENUM: "", f"{ENUM}.A": "A"})),
        ({"enum": [None]}, replace(STRING, parameters={ENUM: "", f"{ENUM}.<NULL>": "<NULL>"})),
        ({"type": "integer", "enum": [1, 2]}, INT64),
        ({"type": "string", "const": "x"}, STRING),
        ({"type": "integer", "const": 5}, INT64),
        ({"type": "string", "not": {"const": "x"}}, STRING),
        ({"allOf": [{"type": "string", "format": "date"}, {"type": "number"}]}, FLOAT64),
    ],
)
def test_types(node: Any, expected: ConnectSchema) -> None:
    assert connect(node) == expected


def test_title_description_and_parameters_are_kept() -> None:
    node = {"type": "string", "title": "n", "description": "d", "connect.version": 3, "connect.parameters": {"a": "b"}}
    assert connect(node) == ConnectSchema(SchemaType.STRING, name="n", version=3, doc="d", parameters={"a": "b"})


def test_the_version_is_that_of_the_registry_unless_the_schema_has_one() -> None:
    node = record(("a", {"type": "string"}))
    assert connect(node, version=4).version == 4
    assert connect({**node, "connect.version": 2}, version=4).version == 2
    assert member(connect(node, version=4), "a").version is None


def test_fields_have_the_order_of_their_index() -> None:
    members = [(name, {"type": "string", "connect.index": index}) for name, index in (("c", 2), ("a", 0), ("b", 1))]
    assert names(connect(record(*members))) == ["a", "b", "c"]


def test_fields_without_an_index_have_the_order_of_the_text() -> None:
    assert names(connect(record(*((name, {"type": "string"}) for name in "zab")))) == ["z", "a", "b"]


def test_no_field_is_lost_if_two_have_the_same_index() -> None:
    node = {"type": "string", "connect.index": 0}
    assert names(connect(record(("a", node), ("b", node)))) == ["a", "b"]


@pytest.mark.parametrize(("setting", "optional"), [(False, [False, False]), (True, [False, True])])
def test_properties_that_are_not_required_are_optional_if_set(setting: bool, optional: list[bool]) -> None:
    node = record(("a", {"type": "string"}), ("b", {"type": "string"}), required=["a"])
    schema = connect(node, use_optional_for_nonrequired=setting)
    assert [field.schema.optional for field in schema.fields] == optional


# Unions


def test_a_union_is_a_struct_of_optional_members() -> None:
    schema = connect({"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "boolean"}]})
    name = "io.confluent.connect.json.OneOf"
    members = (f"{name}.field.0", STRING.as_optional()), (f"{name}.field.1", BOOLEAN.as_optional())
    assert schema == struct(*members, name=name, optional=True)


def test_generalized_unions_are_numbered() -> None:
    union = {"oneOf": [{"type": "string"}, {"type": "boolean"}]}
    schema = connect(record(("a", union), ("b", union)), generalized_sum_type_support=True)
    assert [field.schema.name for field in schema.fields] == ["connect_union_0", "connect_union_1"]
    assert member(schema, "b").parameters == {"org.apache.kafka.connect.data.Union": "connect_union_1"}
    assert names(member(schema, "a")) == ["connect_union_field_0", "connect_union_field_1"]


def test_generalized_enums_have_numbers() -> None:
    schema = connect({"enum": ["A", "B"]}, generalized_sum_type_support=True)
    assert schema.parameters == {GENERALIZED: "", f"{GENERALIZED}.A": "0", f"{GENERALIZED}.B": "1"}


def test_a_union_of_one_type_is_kept_if_set() -> None:
    assert connect({"oneOf": [{"type": "string"}]}, flatten_singleton_unions=False).type is SchemaType.STRUCT


def test_members_that_are_combined_come_first() -> None:
    schema = connect({"oneOf": [{"type": "boolean"}, {"type": "string", "enum": ["A"]}]})
    assert [field.schema.type for field in schema.fields] == [SchemaType.STRING, SchemaType.BOOLEAN]


# allOf


def test_an_all_of_has_all_properties() -> None:
    node = {
        "allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "properties": {"b": {"type": "string"}}}],
        "properties": {"c": {"type": "boolean"}},
        "required": ["c"],
        "$defs": {"A": INNER},
    }
    schema = connect(node, use_optional_for_nonrequired=True)
    assert {field.name: field.schema.optional for field in schema.fields} == {"a": True, "b": True, "c": False}


def test_an_all_of_of_one_reference_is_that() -> None:
    assert connect({"allOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"type": "boolean"}}}) == BOOLEAN


def test_properties_next_to_a_reference_count() -> None:
    node = {"$ref": "#/$defs/A", "properties": {"b": {"type": "string"}}, "$defs": {"A": INNER}}
    assert sorted(names(connect(node))) == ["a", "b"]


# References


@pytest.mark.parametrize(
    ("reference", "document"),
    [
        ("#/definitions/T", {"definitions": {"T": {"type": "boolean"}}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": {"type": "boolean"}}}),
        ("#/$defs/a%20b", {"$defs": {"a b": {"type": "boolean"}}}),
        ("#/oneOf/0", {"oneOf": [{"type": "boolean"}]}),
        ("#anchor", {"$defs": {"x": {"$anchor": "anchor", "type": "boolean"}}}),
        ("#plain", {"definitions": {"x": {"$id": "#plain", "type": "boolean"}}}),
        ("http://x/y.json", {"$defs": {"x": {"$id": "http://x/y.json", "type": "boolean"}}}),
        ("y.json", {"$id": "http://x/root.json", "$defs": {"x": {"$id": "y.json", "type": "boolean"}}}),
        ("http://x/root.json#/$defs/x", {"$id": "http://x/root.json", "$defs": {"x": {"type": "boolean"}}}),
        ("#/definitions/x", {"id": "http://x/root.json", "definitions": {"x": {"type": "boolean"}}}),
    ],
)
@pytest.mark.parametrize("draft", [None, "draft-04/schema#", "draft-07/schema#", "draft/2019-09/schema"])
def test_local_references(reference: str, document: dict[str, Any], draft: str | None) -> None:
    dialect = {} if draft is None else {"$schema": f"http://json-schema.org/{draft}"}
    node = {**dialect, "type": "object", "properties": {"f": {"$ref": reference}}, **document}
    schema = connect(node)
    assert member(schema, "f") == BOOLEAN


@pytest.mark.parametrize("root", [None, "http://x/root.json"])
@pytest.mark.parametrize("identifier", [None, "http://other/inner.json"])
def test_references_of_the_registry(root: str | None, identifier: str | None) -> None:
    deeper = registered({"type": "string"})
    other = record(("d", {"$ref": "deeper.json"})) | ({} if identifier is None else {"$id": identifier})
    inner = registered(other, ("deeper.json", deeper))
    node = record(("i", {"$ref": "inner.json"}), ("p", {"$ref": "inner.json#/properties/d"}))
    schema = connect(node | ({} if root is None else {"$id": root}), ("inner.json", inner))
    assert member(member(schema, "i"), "d") == STRING
    assert member(schema, "p") == STRING


def test_the_index_next_to_a_reference_counts() -> None:
    node = record(
        ("a", {"$ref": "#/$defs/A", "connect.index": 1}),
        ("b", {"type": "string", "connect.index": 0}),
        **{"$defs": {"A": INNER}},
    )
    assert names(connect(node)) == ["b", "a"]


def test_a_type_can_be_used_twice() -> None:
    reference = {"$ref": "#/$defs/A"}
    node = record(("a", reference), ("b", {"type": "array", "items": reference}), **{"$defs": {"A": INNER}})
    assert member(connect(node), "b").value_schema == member(connect(node), "a")


# Defaults


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer", "default": 5}, 5),
        ({"type": "string", "default": "x"}, "x"),
        ({"type": "number", "default": 1}, 1.0),
        (BYTES | {"default": "AA=="}, b"\0"),
        (logical(DATE, "int32") | {"default": 1}, date(1970, 1, 2)),
        (decimal() | {"default": "fQ=="}, Decimal("1.25")),
        ({"type": "array", "items": {"type": "string"}, "default": ["a"]}, ("a",)),
        (STRING_MAP | {"default": {"a": 1}}, {"a": 1}),
        (INNER | {"default": {"a": 1}}, {"a": 1}),
        ({"type": "string", "default": None}, None),
        ({"type": "string", "default": 5}, None),
    ],
)
def test_defaults(node: Any, expected: Any) -> None:
    assert connect(node).default == expected


# What cannot be read


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (True, "Unsupported schema type"),
        ({}, "Unsupported schema type"),
        ({"type": "null"}, "null alone"),
        ({"type": "text"}, "unknown type"),
        (5, "expected a schema"),
        (number("int128"), "Unsupported type int128"),
        ({"type": "array"}, "Array schema did not specify the items type"),
        ({"type": "array", "items": [{"type": "string"}]}, "Array schema did not specify the items type"),
        ({"type": "object", "connect.type": "map"}, "additionalProperties"),
        ({"type": "array", "connect.type": "map", "items": INNER}, "key and value"),
        ({"oneOf": []}, "is not a list of schemas"),
        ({"enum": "A"}, "`enum` is not a list"),
        ({"properties": []}, "`properties` is not an object"),
        ({"allOf": [{"type": "string"}, {"type": "boolean"}]}, "Unsupported criterion allOf"),
        ({"type": "string", "connect.parameters": {"a": 1}}, "is not an object of strings"),
        ({"type": "number", "title": DECIMAL, "connect.type": "bytes"}, "scale parameter not found"),
        ({"$ref": "#/definitions/No"}, "does not exist"),
        ({"$ref": "#no"}, "neither in it nor among its references"),
        ({"$ref": "http://x/y.json"}, "schemas of other servers are not fetched"),
        ({"$ref": 5}, "is not a string"),
        ({"$ref": "http://["}, "neither in it nor among its references"),
        ({"$id": "x:/y", "properties": {"a": {"$id": "http://["}}}, "is not a URI"),
        ({"$ref": "#"}, "contains itself"),
        (record(("next", nullable({"$ref": "#"}))), r"Field next of the JSON schema: # contains itself"),
        (
            {"$ref": "#/$defs/N", "$defs": {"N": {"allOf": [{"properties": {"n": {"$ref": "#/$defs/N"}}}]}}},
            "#/.defs/N contains itself",
        ),
        ({"allOf": [{"$ref": "#"}]}, "contains itself"),
    ],
)
def test_a_schema_that_cannot_be_read_is_an_error(node: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        connect(node)


def test_text_that_is_not_json_is_an_error() -> None:
    with pytest.raises(DataError, match="it is not JSON"):
        Documents(RegisteredSchema("JSON", "{"))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"properties":' * 700 + "{}" + "}" * 700])
def test_a_schema_that_nests_too_deeply_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="nests"):
        Documents(RegisteredSchema("JSON", text))


def test_a_schema_that_grows_with_each_reference_is_an_error() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for index in range(1, 8):
        reference = {"$ref": f"#/$defs/d{index - 1}"}
        definitions[f"d{index}"] = record(*((name, reference) for name in "abcdefghij"))
    with pytest.raises(DataError, match=r"more than .* fields"):
        connect({"$ref": "#/$defs/d7", "$defs": definitions})
