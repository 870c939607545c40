"""JSON Schema, as taps and sources write it, as Connect's schemas; and values as these have them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.programs.json_types import Rows, has_decimals, rows_of


def rows(schema: dict[str, Any], keys: tuple[str, ...] = (), required: tuple[str, ...] = ("a",)) -> Rows:
    """Of a stream with one column, which is required."""
    return rows_of("s", {"type": "object", "properties": {"a": schema}, "required": list(required)}, keys)


def column(schema: dict[str, Any]) -> ConnectSchema:
    value = rows(schema).value
    assert value is not None
    return value.fields[0].schema


def written(schema: dict[str, Any], value: Any) -> Any:
    found = rows(schema).written({"a": value})
    return found if isinstance(found, DataError) else found["a"]


def decimal(scale: int) -> ConnectSchema:
    return ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": str(scale)})


TEXT = STRING_SCHEMA.as_optional()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, INT64_SCHEMA),
        ({"type": ["null", "integer"]}, INT64_SCHEMA.as_optional()),
        ({"type": ["integer", "number"]}, FLOAT64_SCHEMA),
        ({"type": "boolean"}, BOOLEAN_SCHEMA),
        ({"type": "string"}, STRING_SCHEMA),
        ({"type": "string", "format": "uri"}, STRING_SCHEMA),
        ({"type": "string", "format": "date-time"}, ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1)),
        ({"type": "string", "format": "date"}, ConnectSchema(SchemaType.INT32, name=DATE, version=1)),
        ({"type": "string", "format": "time"}, ConnectSchema(SchemaType.INT32, name=TIME, version=1)),
        ({"type": "number", "multipleOf": 0.01}, decimal(2)),
        ({"type": "number", "multipleOf": 1e-38}, FLOAT64_SCHEMA),
        ({"type": "string", "format": "singer.decimal", "scale": 4}, decimal(4)),
        ({"type": "string", "format": "singer.decimal"}, STRING_SCHEMA),
        ({"type": ["string", "integer"]}, TEXT),
        ({}, TEXT),
        ({"enum": ["a", "b"]}, STRING_SCHEMA),
        ({"const": 1}, INT64_SCHEMA),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, INT64_SCHEMA.as_optional()),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, FLOAT64_SCHEMA),
        ({"anyOf": [{"type": "string", "format": "date-time"}, {"type": ["string", "null"]}]}, TEXT),
        ({"oneOf": [{"type": "integer"}, {"type": "object"}]}, TEXT),
        ({"type": "array"}, TEXT),
        ({"type": "array", "items": {}}, TEXT),
        (
            {"type": "array", "items": {"type": "integer"}},
            ConnectSchema(SchemaType.ARRAY, value_schema=INT64_SCHEMA.as_optional()),
        ),
        ({"type": "object"}, TEXT),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT64_SCHEMA.as_optional()),
        ),
    ],
)
def test_types_of_columns(schema: dict[str, Any], expected: ConnectSchema) -> None:
    assert column(schema) == expected


def test_nested_objects_are_structs() -> None:
    nested = column(
        {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": {"type": "string"}}}}}
    )
    assert nested.field("b") is not None
    assert nested.fields[0].schema.fields[0].schema == TEXT


def test_references_within_the_document_are_followed() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/money"}},
        "required": ["a"],
        "$defs": {"money": {"type": "number", "multipleOf": 0.1}},
    }
    value = rows_of("s", schema, ()).value
    assert value is not None
    assert value.fields[0].schema == decimal(1)


def test_a_type_that_contains_itself_ends_in_a_text() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    value = rows_of("s", {"properties": {"a": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}, ()).value
    assert value is not None
    depth, schema = 0, value.fields[0].schema
    while schema.fields:
        depth, schema = depth + 1, schema.fields[0].schema
    assert (depth, schema) == (12, TEXT)


def test_a_column_that_may_be_missing_is_optional() -> None:
    value = rows({"type": "integer"}, required=()).value
    assert value is not None
    assert value.fields[0].schema == INT64_SCHEMA.as_optional()


def test_the_key_is_a_struct_of_its_columns_none_of_which_is_null() -> None:
    key = rows({"type": ["null", "integer"]}, keys=("a",)).key
    assert key is not None
    assert key.fields[0].schema == INT64_SCHEMA


def test_a_schema_without_columns_leaves_rows_as_they_are() -> None:
    found = rows_of("s", {"type": "object"}, ())
    assert (found.value, found.written({"x": [1]})) == (None, {"x": [1]})


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 5.0, 5),
        ({"type": "integer"}, -(2**63), -(2**63)),
        ({"type": "number"}, Decimal("1.5"), 1.5),
        ({"type": "number", "multipleOf": 0.01}, Decimal("1.10"), Decimal("1.10")),
        ({"type": "number", "multipleOf": 1}, Decimal("5.0"), Decimal(5)),
        ({"type": "number", "multipleOf": 0.01}, Decimal("0.0000"), Decimal(0)),
        ({"type": "string", "format": "singer.decimal", "scale": 2}, "1.1", Decimal("1.1")),
        ({"type": "string", "format": "date-time"}, "2026-01-01T01:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ({"type": "string", "format": "date-time"}, "2026-01-01 00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ({"type": "string", "format": "date"}, "2026-01-01T00:00:00Z", date(2026, 1, 1)),
        ({"type": "string", "format": "time"}, "08:30:00.5", 30600500),
        ({"type": "object"}, {"b": [1, None]}, '{"b": [1, null]}'),
        ({}, "as it is", "as it is"),
        ({"type": "array", "items": {"type": "string"}}, ["a", None], ["a", None]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"b": 1}, [("b", 1)]),
    ],
)
def test_values_are_what_their_schema_says(schema: dict[str, Any], value: Any, expected: Any) -> None:
    assert written(schema, value) == expected


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ({"type": "integer"}, "five", '`a`: "five" is not an integer of 64 bits'),
        ({"type": "integer"}, 2**70, "is not an integer of 64 bits"),
        ({"type": "integer"}, True, "true is not an integer"),
        ({"type": "integer"}, 1.5, "1.5 is not an integer"),
        ({"type": "integer"}, float("nan"), "NaN is not an integer"),
        ({"type": "integer"}, float("inf"), "Infinity is not an integer"),
        ({"type": "number"}, 10**400, "is not a number that a double can hold"),
        ({"type": "integer"}, None, "`a` is missing or null, which its schema does not allow"),
        ({"type": "string"}, {"b": 1}, "is not a text"),
        ({"type": "string", "format": "date-time"}, "0000-00-00", "is not a time of a date"),
        ({"type": "number", "multipleOf": 0.01}, Decimal("1.001"), "has more than 2 digits after the point"),
        ({"type": "array", "items": {"type": "integer"}}, ["x"], '`a`: "x" is not an integer'),
        ({"type": "object", "properties": {"b": {"type": "integer"}}}, {"c": 1}, "`a`: `c` is not in its schema"),
        ({"type": "object", "properties": {"b": {"type": "integer"}}}, {"b": "x"}, '`a`: `b`: "x" is not an integer'),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_of_its_record(schema: dict[str, Any], value: Any, why: str) -> None:
    found = written(schema, value)
    assert isinstance(found, DataError)
    assert f"stream s: {why}" in str(found) or why in str(found)


def test_decimals_are_found_wherever_they_are() -> None:
    deep = {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "number", "multipleOf": 0.1}}}}
    assert (has_decimals(rows(deep).value), has_decimals(rows({"type": "number"}).value)) == (True, False)
