"""Schemas that are inferred from records, and what is written with them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    decimal_schema,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.functions.inference import Misfit, inferred, widened, writer_of
from airflow_kconnect.functions.schemas import plain

SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(allow_nan=False)


def values(schema: st.SearchStrategy[Any] = SCALARS) -> st.SearchStrategy[Any]:
    return st.recursive(
        schema, lambda inner: st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=4), max_leaves=8
    )


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("a", STRING_SCHEMA),
        (1, INT64_SCHEMA),
        (True, BOOLEAN_SCHEMA),
        (1.5, FLOAT64_SCHEMA),
        (Decimal("1.25"), decimal_schema(2)),
        (Decimal("1E3"), decimal_schema(0)),
        (datetime(2026, 1, 1), TIMESTAMP_SCHEMA),
        (date(2026, 1, 1), DATE_SCHEMA),
        ([1, 2.5, None], ConnectSchema(SchemaType.ARRAY, value_schema=FLOAT64_SCHEMA.as_optional())),
        ({"a": 1, "b": None}, struct(("a", INT64_SCHEMA.as_optional()))),
    ],
    ids=str,
)
def test_a_value_has_an_optional_schema(value: Any, schema: ConnectSchema) -> None:
    assert inferred(value) == schema.as_optional()


@pytest.mark.parametrize("value", [None, [], {}, [None], {"a": None}], ids=str)
def test_an_empty_value_says_nothing(value: Any) -> None:
    assert inferred(value) is None


def test_new_fields_come_last() -> None:
    wider = widened(inferred({"a": 1}), inferred({"b": "x", "a": 1.5}), "the value")
    assert wider == struct(("a", FLOAT64_SCHEMA.as_optional()), ("b", STRING_SCHEMA.as_optional()), optional=True)


def test_a_contradiction_names_the_field() -> None:
    text = "field `b` of field `a` of the value was of type int64 in other records, and is a text in this one"
    with pytest.raises(DataError, match=text):
        widened(inferred({"a": {"b": 1}}), inferred({"a": {"b": "x"}}), "the value")


def test_there_is_no_schema_for_objects() -> None:
    with pytest.raises(DataError, match="no schema for values of type object"):
        inferred({"a": object()})


@given(values(), values())
def test_values_fit_what_was_inferred_from_both(one: Any, other: Any) -> None:
    try:
        schema = widened(inferred(one), inferred(other), "the value")
    except DataError:
        return
    if schema is not None:
        for value in (one, other):
            if inferred(value) is not None:
                writer_of(schema)(value)


@given(values(), values())
def test_widening_twice_changes_nothing(one: Any, other: Any) -> None:
    try:
        schema = widened(inferred(one), inferred(other), "the value")
    except DataError:
        return
    assert widened(schema, inferred(one), "the value") == schema


@pytest.mark.parametrize(
    ("known", "value"),
    [
        ({"a": 1}, {"a": 1.5}),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"b": 1}),
        ({"a": [1]}, {"a": ["x"]}),
        ({"a": Decimal("1.2")}, {"a": Decimal("1.25")}),
        ({"a": {"b": 1}}, {"a": 7}),
    ],
    ids=str,
)
def test_a_value_that_does_not_fit_is_not_written(known: Any, value: Any) -> None:
    schema = inferred(known)
    assert schema is not None
    with pytest.raises(Misfit):
        writer_of(schema)(value)


def test_integers_among_floating_point_numbers_are_such_numbers() -> None:
    schema = inferred({"a": 1.5})
    assert schema is not None
    assert writer_of(schema)({"a": 2, "unknown": None}) == {"a": 2.0}


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 10**400], ids=["odd", "negative", "beyond"])
def test_an_integer_that_no_floating_point_number_is_has_no_place_among_them(value: int) -> None:
    with pytest.raises(Misfit):
        writer_of(FLOAT64_SCHEMA)(value)


class Moment(datetime):
    """As of pandas or pendulum."""


class Text(str):
    __slots__ = ()


class Number(float):
    """As of numpy."""


@pytest.mark.parametrize(
    ("value", "schema"),
    [(Moment(2026, 1, 1), TIMESTAMP_SCHEMA), (Text("a"), STRING_SCHEMA), (Number(1), FLOAT64_SCHEMA)],
)
def test_a_value_of_a_subclass_has_the_schema_of_its_base(value: Any, schema: ConnectSchema) -> None:
    found = plain(value)
    assert (inferred(found), found) == (schema.as_optional(), value)


def test_a_set_has_one_order() -> None:
    assert plain({"b", "a", "c"}) == ["a", "b", "c"]
