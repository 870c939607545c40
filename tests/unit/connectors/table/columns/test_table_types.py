"""Types of a table's columns: which hold which, and the one column of two sorts of records."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.types import common, holds, is_checked, promoted
from airflow_kconnect.connectors.types import merged, same
from tests.support.spark.column_types import NUMBERS, SCALARS, TYPES

INT, LONG, TEXT, DOUBLE = T.IntegerType(), T.LongType(), T.StringType(), T.DoubleType()


def of(one: T.DataType, other: T.DataType) -> T.DataType:
    return merged("x", one, other, common)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (INT, LONG, "bigint"),
        (T.FloatType(), DOUBLE, "double"),
        (INT, T.FloatType(), "double"),
        (LONG, DOUBLE, "double"),
        (INT, TEXT, "string"),
        (T.BooleanType(), TEXT, "string"),
        (T.ArrayType(INT), TEXT, "string"),
        (T.DecimalType(10, 2), T.DecimalType(12, 2), "decimal(12,2)"),
        (T.DecimalType(10, 2), T.DecimalType(10, 4), "decimal(12,4)"),
        (T.DecimalType(38, 2), T.DecimalType(38, 4), "decimal(38,4)"),
        (T.DecimalType(12, 2), INT, "decimal(12,2)"),
        (T.BinaryType(), INT, "binary"),
        (T.DateType(), T.TimestampType(), "date"),
    ],
)
def test_the_column_of_two_sorts_of_records(one: T.DataType, other: T.DataType, expected: str) -> None:
    assert of(one, other).simpleString() == expected


@given(NUMBERS, NUMBERS)
def test_numbers_have_the_same_column_in_any_order(one: T.DataType, other: T.DataType) -> None:
    assert of(one, other) == of(other, one)


@given(TYPES)
def test_a_type_merged_with_itself_is_the_same(type_: T.DataType) -> None:
    assert of(type_, type_) == type_


@given(TYPES, TYPES)
def test_merging_again_changes_nothing(one: T.DataType, other: T.DataType) -> None:
    once = of(one, other)
    assert same(of(once, other), once)


@given(st.lists(st.sampled_from([T.ByteType(), T.ShortType(), INT, LONG]), min_size=1, max_size=5))
def test_integers_get_the_widest_of_their_types(types: list[T.DataType]) -> None:
    united = reduce(of, types)
    assert all(holds(united, each) for each in types)


@given(SCALARS, SCALARS)
def test_a_promoted_column_holds_both(known: T.DataType, wanted: T.DataType) -> None:
    type_ = promoted(known, wanted)
    assert type_ is None or (holds(type_, known) and holds(type_, wanted) and not same(type_, known))


@given(SCALARS, SCALARS)
def test_a_column_that_holds_a_type_needs_no_promotion(known: T.DataType, wanted: T.DataType) -> None:
    assert not (holds(known, wanted) and promoted(known, wanted))


@pytest.mark.parametrize(
    ("column", "given", "expected"),
    [
        (T.DecimalType(10, 0), INT, True),
        (T.DecimalType(9, 0), INT, False),
        (DOUBLE, LONG, False),
        (DOUBLE, INT, True),
        (T.FloatType(), INT, False),
        (TEXT, T.StructType([T.StructField("a", INT)]), True),
        (TEXT, T.BinaryType(), False),
        (T.VariantType(), T.MapType(INT, INT), False),
        (T.TimestampNTZType(), T.TimestampType(), True),
    ],
)
def test_which_columns_hold_which_values(column: T.DataType, given: T.DataType, expected: bool) -> None:
    assert holds(column, given) is expected


@pytest.mark.parametrize(
    ("given", "column", "expected"),
    [
        (LONG, INT, True),
        (TEXT, T.DateType(), True),
        (TEXT, T.BinaryType(), False),
        (LONG, T.TimestampType(), True),
        (INT, T.TimestampType(), False),
        (T.StructType(), INT, False),
        (T.BooleanType(), INT, False),
    ],
)
def test_which_values_are_tried(given: T.DataType, column: T.DataType, expected: bool) -> None:
    assert is_checked(given, column) is expected


def test_a_member_that_only_some_have_may_be_null() -> None:
    one = T.StructType([T.StructField("a", INT, False), T.StructField("b", INT, False)])
    other = T.StructType([T.StructField("b", INT, False, {"comment": "of b"}), T.StructField("c", TEXT, False)])
    assert merged("", one, other, common) == T.StructType(
        [T.StructField("a", INT), T.StructField("b", INT, False, {"comment": "of b"}), T.StructField("c", TEXT)]
    )


def test_names_in_another_case_can_be_one_member() -> None:
    one, other = T.StructType([T.StructField("Id", INT)]), T.StructType([T.StructField("ID", LONG)])
    assert merged("", one, other, common, str.lower) == T.StructType([T.StructField("Id", LONG)])
