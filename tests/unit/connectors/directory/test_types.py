"""Types of columns in files: what holds what, and how they differ."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.types import common_type, differences

INT, LONG, TEXT = T.IntegerType(), T.LongType(), T.StringType()


def struct(**fields: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, type_) for name, type_ in fields.items()])


def mapping(values: T.DataType, keys: T.DataType = TEXT) -> T.MapType:
    return T.MapType(keys, values)


@pytest.mark.parametrize(
    ("known", "given", "expected"),
    [
        (INT, INT, []),
        (LONG, INT, []),
        (T.DoubleType(), T.FloatType(), []),
        (INT, LONG, ["`x` is bigint, and was int"]),
        (INT, TEXT, ["`x` is string, and was int"]),
        (T.DecimalType(38, 2), T.DecimalType(38, 4), ["`x` is decimal(38,4), and was decimal(38,2)"]),
        (struct(a=INT), struct(a=INT, b=INT), ["`x.b` is new"]),
        (struct(a=INT, b=INT), struct(a=INT), []),
        (struct(a=struct(b=INT)), struct(a=struct(b=TEXT)), ["`x.a.b` is string, and was int"]),
        (T.ArrayType(struct(a=INT)), T.ArrayType(struct(b=INT)), ["`x[].b` is new"]),
        (mapping(struct(a=INT)), mapping(struct(b=INT)), ["`x[].b` is new"]),
        (mapping(INT, INT), mapping(INT), ["`x` is map<string,int>, and was map<int,int>"]),
        (T.ArrayType(INT), INT, ["`x` is int, and was array<int>"]),
    ],
)
def test_differences(known: T.DataType, given: T.DataType, expected: list[str]) -> None:
    assert [difference.text for difference in differences(("x",), known, given)] == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (T.ByteType(), LONG, "bigint"),
        (T.DoubleType(), T.FloatType(), "double"),
        (struct(a=INT), struct(b=TEXT, a=LONG), "struct<a:bigint,b:string>"),
        (T.ArrayType(struct(a=INT)), T.ArrayType(struct(b=INT)), "array<struct<a:int,b:int>>"),
        (mapping(T.ArrayType(INT)), mapping(T.ArrayType(LONG)), "map<string,array<bigint>>"),
    ],
)
def test_common_types(one: T.DataType, other: T.DataType, expected: str) -> None:
    assert common_type("x", one, other).simpleString() == expected


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [(INT, TEXT, "x"), (struct(a=INT), struct(a=TEXT), "x.a"), (T.ArrayType(INT), T.ArrayType(T.DateType()), "x[]"),
     (LONG, T.DoubleType(), "x"), (mapping(INT, INT), mapping(INT), "x")],
)  # fmt: skip
def test_without_a_common_type_the_field_is_named(one: T.DataType, other: T.DataType, name: str) -> None:
    with pytest.raises(DataError, match=f"field `{name}` is .* in some records and".replace("[]", r"\[\]")):
        common_type("x", one, other)
