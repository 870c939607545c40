"""Values of source tasks as Arrow columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters import cells

ROW = pa.struct([("id", pa.int64()), ("text", pa.string())])
NESTED = pa.struct([("id", pa.int64()), ("inner", ROW)])


def test_values_that_fit_are_a_column_without_errors() -> None:
    column, errors = cells.column([{"id": 1, "text": "a"}, None, {"id": 2}], ROW)
    assert (column.to_pylist(), errors) == ([{"id": 1, "text": "a"}, None, {"id": 2, "text": None}], {})


def test_a_field_that_the_schema_does_not_have_is_an_error_of_its_record_alone() -> None:
    column, errors = cells.column([{"id": 1}, {"id": 2, "colour": "red"}, {"id": 3}], ROW)
    assert errors == {1: "it has a field `colour`, which its schema does not have: declare it, or leave it out"}
    assert column.to_pylist() == [{"id": 1, "text": None}, None, {"id": 3, "text": None}]


@pytest.mark.parametrize(
    ("type_", "value", "field"),
    [
        (NESTED, {"id": 1, "inner": {"colour": "red"}}, "inner.colour"),
        (pa.list_(ROW), [{"id": 1}, {"colour": "red"}], "colour"),
        (pa.map_(pa.string(), ROW), {"a": {"colour": "red"}}, "colour"),
        (ROW, {"id": 1, "colour": None}, "colour"),
        (ROW, {"id": 1, 7: "red"}, "7"),
        (ROW, [("id", 1), ("colour", "red")], "colour"),
    ],
    ids=["in a struct", "in a list", "in a map", "null", "not a text", "pairs"],
)
def test_an_unknown_field_is_named_wherever_it_is(type_: pa.DataType, value: Any, field: str) -> None:
    _, errors = cells.column([value], type_)
    assert errors == {0: f"it has a field `{field}`, which its schema does not have: declare it, or leave it out"}


@pytest.mark.parametrize("value", [(1, "a"), [("id", 1), ("text", "a")]], ids=["a tuple", "pairs"])
def test_what_arrow_takes_for_a_struct_is_still_one(value: Any) -> None:
    column, errors = cells.column([value], ROW)
    assert (column.to_pylist(), errors) == ([{"id": 1, "text": "a"}], {})


def test_a_decimal_far_beyond_its_scale_is_an_error() -> None:
    _, errors = cells.column([{"price": Decimal("1e-60")}], pa.struct([("price", pa.decimal128(38, 2))]))
    assert errors == {0: "Decimal has 60 digits after the point, but its schema has scale 2"}


def test_an_error_in_place_of_a_value_is_that_of_its_record() -> None:
    _, errors = cells.column([DataError("it is broken")], ROW)
    assert errors == {0: "it is broken"}
