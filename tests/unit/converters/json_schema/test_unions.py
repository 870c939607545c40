"""Which member of a union a value belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.json_schema.unions import chosen
from tests.unit.converters.json_schema.corpus import record, registered

STRING = {"type": "string"}
NUMBER = {"type": "number"}
BYTES = {"type": "string", "connect.type": "bytes"}
INTEGER = {"type": "integer"}
ORDER = record(("id", INTEGER), ("to", record(("street", STRING), ("town", STRING))))
PARCEL = record(("id", INTEGER), ("to", record(("locker", STRING))))


def index(members: list[Any], node: Any) -> int | None:
    union = JsonSchemaFormat({}).shape_of(registered({"oneOf": members}), b"").schema
    assert union is not None
    return chosen([member.schema for member in union.fields], node)


@pytest.mark.parametrize(
    ("members", "node", "expected"),
    [
        ([STRING, INTEGER], 1, 1),
        ([NUMBER, INTEGER], 1, 0),
        ([INTEGER, {"type": "boolean"}], True, 1),
        ([STRING, {"type": "array", "items": STRING}], [], 1),
        ([ORDER, {"type": "object", "connect.type": "map", "additionalProperties": STRING}], {"id": "a"}, 1),
    ],
)
def test_the_first_member_of_the_type_is_chosen(members: list[Any], node: Any, expected: int) -> None:
    assert index(members, node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"id": 1}, 0),
        ({"id": 1, "to": {"street": "a", "town": "b"}}, 1),
        ({"id": 1, "to": {"locker": "a"}}, 0),
    ],
)
def test_the_struct_that_shares_most_properties_is_chosen(node: Any, expected: int) -> None:
    assert index([PARCEL, ORDER], node) == expected


@pytest.mark.parametrize("node", [{}, {"other": 1}])
def test_an_object_that_shares_no_property_belongs_to_no_member(node: Any) -> None:
    assert index([PARCEL, ORDER], node) is None


@pytest.mark.parametrize("members", [[BYTES, STRING], [STRING, BYTES]])
def test_text_is_a_string_rather_than_bytes(members: list[Any]) -> None:
    assert index(members, "abcd") == members.index(STRING)


def test_text_is_bytes_if_no_member_is_a_string() -> None:
    assert index([INTEGER, BYTES], "abcd") == 1


@pytest.mark.parametrize(("node", "expected"), [("a", 1), (True, 0), ([], None)])
def test_a_union_within_a_union_has_what_no_other_member_has(node: Any, expected: int | None) -> None:
    inner = {"oneOf": [{"type": "boolean"}, STRING]}
    assert index([inner, STRING], node) == expected
