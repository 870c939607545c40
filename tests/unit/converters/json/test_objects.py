"""Batches of objects without schemas: what Arrow parses must be what JSON says, everything else is left alone."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import DATE, ConnectSchema, SchemaType, struct
from airflow_kconnect.connect.frame import ExpectedObjects
from airflow_kconnect.converters.json.objects import object_parser


def optional(type_: SchemaType, items: ConnectSchema | None = None) -> ConnectSchema:
    return ConnectSchema(type_, optional=True, value_schema=items)


INNER = struct(("x", optional(SchemaType.FLOAT64)), ("y", optional(SchemaType.STRING)), optional=True)
SCHEMA = struct(
    ("id", optional(SchemaType.INT64)),
    ("size", optional(SchemaType.FLOAT64)),
    ("name", optional(SchemaType.STRING)),
    ("paid", optional(SchemaType.BOOLEAN)),
    ("place", INNER),
    ("places", optional(SchemaType.ARRAY, INNER)),
    ("tags", optional(SchemaType.ARRAY, optional(SchemaType.STRING))),
)
NOTHING = {field.name: None for field in SCHEMA.fields}


def parsed(*messages: Any, strict: bool = True, required: tuple[str, ...] = ()) -> list[Any]:
    parser = object_parser(ExpectedObjects(SCHEMA, strict, required))
    assert parser is not None
    texts = [each if isinstance(each, str | None) else json.dumps(each) for each in messages]
    found = parser.parse(pa.array([None if text is None else text.encode() for text in texts], pa.binary()))
    assert found.type == parser.type
    values: list[Any] = found.to_pylist()
    return values


TEXTS = st.text(st.characters(codec="utf-8"))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
PLACES = st.none() | st.fixed_dictionaries({"x": st.none() | NUMBERS, "y": st.none() | TEXTS})
OBJECTS = st.fixed_dictionaries(
    {
        "id": st.none() | st.integers(-(2**63), 2**63 - 1),
        "size": st.none() | NUMBERS,
        "name": st.none() | TEXTS,
        "paid": st.none() | st.booleans(),
        "place": PLACES,
        "places": st.none() | st.lists(PLACES, max_size=3),
        "tags": st.none() | st.lists(st.none() | TEXTS, max_size=3),
    }
)


@given(st.lists(OBJECTS, min_size=1, max_size=5))
def test_objects_are_read_as_json_has_them(objects: list[dict[str, Any]]) -> None:
    assert parsed(*objects) == objects


def test_members_may_be_missing() -> None:
    assert parsed({}, None, {"id": 1}) == [NOTHING, None, NOTHING | {"id": 1}]


@pytest.mark.parametrize(
    "text", ['{"size":-0.0}', '{"size":-0}', '{"place":{"x":-0.0}}', '{"places":[null,{"x":-0.0}]}']
)
def test_no_zero_is_negative(text: str) -> None:
    assert "-0.0" not in str(parsed({"id": 1}, text)) and parsed(text) != [None]


@pytest.mark.parametrize(
    "text",
    ['{"id":1.0}', '{"id":"1"}', '{"name":1}', '{"paid":1}', '{"size":"1"}', '{"place":[]}', '{"place":{"x":"a"}}',
     '{"tags":["a",1]}', '{"id":1,"id":2}', '{"id":1}{"id":2}', '{"id":NaN}', "{oops}", '{"name":"\\ud800"}',
     '{"id":9223372036854775808}', '{"size":NaN}', '{"size": -Infinity }', '{"place":{"x":Inf}}'],
)  # fmt: skip
def test_a_batch_with_anything_else_is_left_alone(text: str) -> None:
    assert parsed({"id": 7}, text) == [None, None]


def test_texts_may_say_that_something_is_no_number() -> None:
    assert parsed({"name": "NaN", "tags": ["Inf", "is NaN"]}) != [None]


@pytest.mark.parametrize("text", ["5", "null", "[]", '"text"', ""])
def test_what_is_no_object_is_left_alone_in_its_place(text: str) -> None:
    assert parsed({"id": 7}, text) == [NOTHING | {"id": 7}, None]


@pytest.mark.parametrize("text", ['{"id":7,"more":1}', '{"id":7,"place":{"more":1}}'])
def test_other_members_are_ignored_only_where_that_is_wanted(text: str) -> None:
    assert parsed(text) == [None]
    assert parsed(text, strict=False)[0]["id"] == 7


def test_a_batch_that_lacks_a_required_member_is_left_alone() -> None:
    assert parsed({"id": 1}, {"name": "x"}, required=("id",)) == [None, None]
    assert parsed({"id": 1}, {"id": 2}, required=("id",)) != [None, None]


@pytest.mark.parametrize(
    "schema",
    [
        struct(),
        struct(("a", struct())),
        struct(("a", optional(SchemaType.FLOAT32))),
        struct(("a", optional(SchemaType.BYTES))),
        struct(("a", ConnectSchema(SchemaType.INT32, name=DATE))),
        struct(("a", optional(SchemaType.ARRAY, optional(SchemaType.FLOAT32)))),
    ],
)
def test_there_is_no_parser_for(schema: ConnectSchema) -> None:
    assert object_parser(ExpectedObjects(schema)) is None
