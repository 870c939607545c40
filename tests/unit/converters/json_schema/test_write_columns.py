"""Which data are written column by column, and as what."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.write_columns import write_columns
from airflow_kconnect.converters.types import arrow_type

NOTE = STRING_SCHEMA.as_optional()
LIST = ConnectSchema(SchemaType.ARRAY, value_schema=NOTE)
MAP = ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT64_SCHEMA)
PAIRS = ConnectSchema(SchemaType.MAP, key_schema=INT64_SCHEMA, value_schema=INT64_SCHEMA)
PRICE = ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": "2"})
FLOAT = ConnectSchema(SchemaType.FLOAT64)
CLOCK = ConnectSchema(SchemaType.INT32, name=TIME, version=1)


def written(schema: ConnectSchema, *rows: Any) -> list[str] | None:
    payloads = write_columns(schema, pa.array(rows, arrow_type(schema)), JsonSchemaSettings())
    return None if payloads is None else [payload.decode() for payload in payloads.to_pylist()]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (struct(("a", INT64_SCHEMA), ("b", NOTE)), {"a": 1, "b": None}, '{"a":1,"b":null}'),
        (struct(("a", INT64_SCHEMA), ("b", STRING_SCHEMA)), {"a": None, "b": "x"}, '{"b":"x"}'),
        (struct(("a", INT64_SCHEMA), ("b", STRING_SCHEMA)), {"a": None, "b": None}, "{}"),
        (struct(), {}, "{}"),
        (struct(("a", struct(("b", NOTE)))), {"a": {"b": 'q"\U0001f600'}}, '{"a":{"b":"q\\"\\uD83D\\uDE00"}}'),
        (struct(("a", LIST)), {"a": ["x", None]}, '{"a":["x",null]}'),
        (struct(("a", MAP)), {"a": [("k", 1), ("l", 2)]}, '{"a":{"k":1,"l":2}}'),
        (struct(("a", PAIRS)), {"a": [(3, 1)]}, '{"a":[{"key":3,"value":1}]}'),
        (struct(("a", PRICE)), {"a": Decimal("-1.28")}, '{"a":"gA=="}'),
        (struct(("a", FLOAT)), {"a": 1e20}, '{"a":1.0E20}'),
        (struct(("a", FLOAT)), {"a": float("nan")}, '{"a":"NaN"}'),
        (INT64_SCHEMA, 5, "5"),
    ],
)
def test_it_is_written_as_its_only_row(schema: ConnectSchema, value: Any, expected: str) -> None:
    assert written(schema, value) == [expected]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (CLOCK, 86_400_000),
        (INT64_SCHEMA, None),
        (ConnectSchema(SchemaType.STRING, name=DATE, version=1), "a date is not a text"),
    ],
)
def test_what_may_be_an_error_is_left_to_the_rows(schema: ConnectSchema, value: Any) -> None:
    assert written(schema, value) is None


def test_without_rows_there_are_no_payloads() -> None:
    assert written(struct(("a", PRICE), ("b", LIST), ("c", MAP))) == []
