"""Values of source tasks as Arrow columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.converters.cells import column

MONEY = pa.decimal128(38, 2)
EXTREME = "Decimal has 999999999 digits after the point, but its schema has scale 2"


@pytest.mark.parametrize("text", ["0e-999999999", "1e-999999999", "-5e-999999999"])
def test_a_decimal_with_an_extreme_exponent_is_an_error(text: str) -> None:
    """pyarrow ends the process."""
    cells, errors = column([Decimal("1.25"), Decimal(text)], MONEY)
    assert (cells.to_pylist(), errors) == ([Decimal("1.25"), None], {1: EXTREME})


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.struct([("n", pa.int32()), ("price", MONEY)]), {"n": 1, "price": Decimal("0e-999999999")}),
        (pa.struct([("n", pa.int32()), ("price", MONEY)]), [("n", 1), ("price", Decimal("0e-999999999"))]),
        (pa.list_(MONEY), [None, Decimal("0e-999999999")]),
        (pa.map_(pa.string(), MONEY), [("a", Decimal("0e-999999999"))]),
        (pa.map_(pa.string(), MONEY), {"a": Decimal("0e-999999999")}),
        (pa.map_(MONEY, pa.string()), [(Decimal("0e-999999999"), "a")]),
        (pa.list_(pa.struct([("price", pa.list_(MONEY))])), [{"price": [Decimal("0e-999999999")]}]),
    ],
)
def test_it_is_found_within_other_values(type_: pa.DataType, value: Any) -> None:
    assert column([value, None], type_)[1] == {0: EXTREME}


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999999999", "0e999999999", "1e40", "0.001"])
def test_a_decimal_that_does_not_fit_is_an_error(text: str) -> None:
    cells, errors = column([Decimal(text), Decimal(1)], MONEY)
    assert (cells.to_pylist(), list(errors)) == ([None, Decimal("1.00")], [0])


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.int32(), "one"),
        (pa.int32(), 2**31),
        (pa.string(), 1),
        (pa.struct([("price", MONEY)]), 5),
        (pa.list_(MONEY), 5),
        (pa.list_(pa.int64()), ["x"]),
        (pa.map_(pa.string(), MONEY), 5),
        (pa.date32(), "2024-01-01"),
        (pa.string(), "\ud800"),
    ],
)
def test_a_value_of_another_type_is_an_error(type_: pa.DataType, value: Any) -> None:
    cells, errors = column([None, value], type_)
    assert (cells.null_count, list(errors)) == (2, [1])


def test_values_that_fit_have_no_errors() -> None:
    rows = [{"price": Decimal("1.5"), "tags": ["a"]}, None, {"price": None}]
    cells, errors = column(rows, pa.struct([("price", MONEY), ("tags", pa.list_(pa.string()))]))
    assert cells.to_pylist() == [{"price": Decimal("1.50"), "tags": ["a"]}, None, {"price": None, "tags": None}]
    assert errors == {}


@given(st.lists(st.decimals(allow_nan=None, allow_infinity=None)), st.integers(0, 38))
def test_any_decimal_is_its_value_or_an_error(values: list[Decimal], scale: int) -> None:
    cells, errors = column(values, pa.decimal128(38, scale))
    for row, (value, held) in enumerate(zip(values, cells.to_pylist(), strict=True)):
        assert held is None if row in errors else held == value
