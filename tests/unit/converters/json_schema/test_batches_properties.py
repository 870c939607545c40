"""Random schemas, data and messages: what is written is read again, and nothing may crash."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema.batches import JsonEncoder
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.json_schema.corpus import CASES, registered

TEXT = st.text(st.characters(codec="utf-8"))
Typed = tuple[ConnectSchema, st.SearchStrategy[Any]]


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


LEAVES: list[Typed] = [
    (ConnectSchema(SchemaType.BOOLEAN), st.booleans()),
    (ConnectSchema(SchemaType.INT8), integers(8)),
    (ConnectSchema(SchemaType.INT64), integers(64)),
    (ConnectSchema(SchemaType.FLOAT32), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (ConnectSchema(SchemaType.FLOAT64), st.floats(allow_nan=False, allow_infinity=False)),
    (ConnectSchema(SchemaType.STRING), TEXT),
    (ConnectSchema(SchemaType.BYTES), st.binary()),
]


def optional(typed: Typed) -> Typed:
    return typed[0].as_optional(), st.none() | typed[1]


def array(typed: Typed) -> Typed:
    return ConnectSchema(SchemaType.ARRAY, value_schema=typed[0]), st.lists(typed[1], max_size=3)


def string_map(typed: Typed) -> Typed:
    schema = ConnectSchema(SchemaType.MAP, key_schema=ConnectSchema(SchemaType.STRING), value_schema=typed[0])
    return schema, st.dictionaries(TEXT, typed[1], max_size=3).map(lambda entries: list(entries.items()))


def number_map(typed: Typed) -> Typed:
    schema = ConnectSchema(SchemaType.MAP, key_schema=ConnectSchema(SchemaType.INT64), value_schema=typed[0])
    return schema, st.dictionaries(integers(64), typed[1], max_size=3).map(lambda entries: list(entries.items()))


def record(members: list[Typed]) -> Typed:
    fields = tuple(Field(f"f{index}", schema) for index, (schema, _) in enumerate(members))
    values = st.fixed_dictionaries({f"f{index}": value for index, (_, value) in enumerate(members)})
    return ConnectSchema(SchemaType.STRUCT, fields=fields), values


def types(depth: int) -> st.SearchStrategy[Typed]:
    leaf = st.sampled_from(LEAVES)
    if depth == 0:
        return leaf
    inner = types(depth - 1)
    records = st.lists(inner, min_size=1, max_size=3).map(record)
    return st.one_of(leaf, *(inner.map(made) for made in (optional, array, string_map, number_map)), records)


@st.composite
def batches(draw: st.DrawFn) -> tuple[ConnectSchema, list[Any]]:
    schema, values = record(draw(st.lists(types(3), min_size=1, max_size=4)))
    return schema, draw(st.lists(values, min_size=1, max_size=5))


def same(one: Any, other: Any) -> bool:
    """Whether values are equal; there is no negative zero in JSON."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@given(batches())
def test_data_are_read_as_they_were_written(batch: tuple[ConnectSchema, list[Any]]) -> None:
    schema, rows = batch
    format_, shape = JsonSchemaFormat({}), Shape(schema)
    data = pa.array(rows, arrow_type(schema))
    made = format_.schema_of(shape)
    assert format_.shape_of(made, b"") == shape
    payloads, errors = format_.encoder(made, shape).encode(data)
    assert errors is None
    validator = Draft7Validator(json.loads(made.text))
    assert all(validator.is_valid(json.loads(payload)) for payload in payloads.to_pylist())
    again, errors = format_.decoder(made, b"").decode(payloads)
    assert errors is None
    assert same(again.to_pylist(), data.to_pylist())


def logical(name: str, type_: SchemaType, values: st.SearchStrategy[Any], **parameters: str) -> Typed:
    return ConnectSchema(type_, name=name, version=1, parameters=parameters or None), values


def with_default(typed: Typed, value: Any) -> Typed:
    return replace(typed[0], default=value), st.none() | typed[1]


LOGICAL: list[Typed] = [
    logical(DECIMAL, SchemaType.BYTES, st.decimals(1 - 10**36, 10**36 - 1, places=2), scale="2"),
    logical(DATE, SchemaType.INT32, st.dates()),
    logical(TIME, SchemaType.INT32, st.integers(0, 86_400_000)),
    logical(TIMESTAMP, SchemaType.INT64, st.datetimes(timezones=st.just(UTC))),
]
DEFAULTS: list[Typed] = [
    with_default((ConnectSchema(SchemaType.INT32, optional=True), integers(32)), 5),
    with_default((ConnectSchema(SchemaType.STRING), st.text()), 'a "word"'),
    with_default((ConnectSchema(SchemaType.FLOAT64), st.floats()), 1e20),
]


@st.composite
def any_batches(draw: st.DrawFn) -> tuple[ConnectSchema, pa.Array]:
    """Also data that cannot be written: nulls that the schema does not allow, impossible times."""
    leaf = st.sampled_from([*LEAVES, *LOGICAL, *DEFAULTS, (ConnectSchema(SchemaType.FLOAT32), st.floats(width=32))])
    inner = leaf | leaf.map(optional) | leaf.map(array) | leaf.map(string_map) | leaf.map(number_map)
    nested = inner | st.lists(inner, max_size=3).map(record) | inner.map(optional).map(array)
    members = [(schema, st.none() | values) for schema, values in draw(st.lists(nested, max_size=4))]
    schema, values = record(members)
    rows = draw(st.lists(values, min_size=1, max_size=5))
    return schema, pa.array([None, *rows], arrow_type(schema))[1:]


@given(any_batches(), st.booleans(), st.sampled_from(["BASE64", "NUMERIC"]))
def test_a_batch_is_written_as_its_rows(batch: tuple[ConnectSchema, pa.Array], ignore: bool, decimals: str) -> None:
    schema, data = batch
    encoder = JsonEncoder(schema, JsonSchemaSettings(ignore_default_for_nullables=ignore, decimal_format=decimals))
    payloads, errors = encoder.encode(data)
    again, others = encoder._one_by_one(data)
    assert payloads.to_pylist() == again.to_pylist()
    assert (errors and errors.to_pylist()) == (others and others.to_pylist())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abfilnmxudtso", max_size=2), inner, max_size=4)
    ),
    max_leaves=10,
)
SCHEMAS = st.sampled_from([case.registered for case in CASES.values()])


@given(SCHEMAS, st.lists(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=20), max_size=4))
def test_a_batch_of_anything_is_read_as_its_messages(schema: RegisteredSchema, payloads: list[bytes]) -> None:
    decoder = JsonSchemaFormat({}).decoder(schema, b"")
    batch = pa.array(payloads, pa.binary())
    data, errors = decoder.decode(batch)
    again, others = decoder.one_by_one(batch)
    assert data.equals(again)
    assert (errors and errors.to_pylist()) == (others and others.to_pylist())
    assert errors is None or all(text is None or not data[row].is_valid for row, text in enumerate(errors.to_pylist()))


NOTES = ["title", "default", "connect.type", "connect.index", "connect.parameters", "connect.version"]
KEYWORDS = st.sampled_from(
    ["type", "properties", "items", "oneOf", "allOf", "enum", "const", "$ref", "$id", "required", *NOTES]
)
WORDS = st.sampled_from(["object", "array", "string", "integer", "map", "bytes", "int8", "#", "#/items", "http://["])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=15,
)


@given(ANYTHING)
def test_a_schema_of_anything_is_read_or_an_error(node: Any) -> None:
    format_ = JsonSchemaFormat({})
    try:
        shape = format_.shape_of(registered(node), b"")
    except DataError:
        return
    assert format_.shape_of(format_.schema_of(shape), b"") is not None
