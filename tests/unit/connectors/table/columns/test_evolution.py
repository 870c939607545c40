"""What has to change in a table: additions, wider types, optional columns; what is refused, and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.evolution import Change, changes
from tests.support.spark.column_types import TYPES

INT, LONG, TEXT = T.IntegerType(), T.LongType(), T.StringType()
EVOLVE = {"add": "evolve", "widen": "evolve", "optional": "evolve"}


def struct(**members: T.DataType | T.StructField) -> T.StructType:
    return T.StructType(
        [each if isinstance(each, T.StructField) else T.StructField(name, each) for name, each in members.items()]
    )


def required(name: str, type_: T.DataType = INT) -> T.StructField:
    return T.StructField(name, type_, False)


@pytest.mark.parametrize(
    ("known", "wanted", "expected"),
    [
        (struct(a=INT), struct(a=INT), ()),
        (struct(a=LONG), struct(a=INT), ()),
        (struct(a=INT, b=INT), struct(a=INT), ()),
        (struct(a=INT), struct(a=INT, b=TEXT), (Change("add", ("b",), TEXT),)),
        (struct(a=INT), struct(a=LONG), (Change("widen", ("a",), LONG),)),
        (struct(a=T.FloatType()), struct(a=T.DoubleType()), (Change("widen", ("a",), T.DoubleType()),)),
        (
            struct(a=T.DecimalType(9, 2)),
            struct(a=T.DecimalType(12, 2)),
            (Change("widen", ("a",), T.DecimalType(12, 2)),),
        ),
        (struct(a=required("a")), struct(a=INT), (Change("optional", ("a",)),)),
        (struct(a=required("a"), b=INT), struct(b=INT), (Change("optional", ("a",)),)),
        (struct(s=struct(a=INT)), struct(s=struct(a=LONG, b=TEXT)),
         (Change("widen", ("s", "a"), LONG), Change("add", ("s", "b"), TEXT))),
        (struct(l=T.ArrayType(struct(a=INT))), struct(l=T.ArrayType(struct(b=TEXT))),
         (Change("add", ("l", "element", "b"), TEXT),)),
        (struct(m=T.MapType(TEXT, INT)), struct(m=T.MapType(TEXT, LONG)), (Change("widen", ("m", "value"), LONG),)),
        (struct(l=T.ArrayType(INT, False)), struct(l=T.ArrayType(INT)), (Change("optional", ("l", "element")),)),
    ],
)  # fmt: skip
def test_changes(known: T.StructType, wanted: T.StructType, expected: tuple[Change, ...]) -> None:
    assert changes(known, wanted, EVOLVE) == changes(known, wanted, EVOLVE, keys=["x"])
    assert changes(known, wanted, EVOLVE).changes == expected


def test_a_column_that_is_added_has_its_comment() -> None:
    wanted = struct(a=T.StructField("a", INT, True, {"comment": "the a"}))
    assert changes(struct(b=INT), wanted, EVOLVE).changes == (Change("add", ("a",), INT, "the a"),)


@pytest.mark.parametrize(
    ("known", "wanted", "policies", "refused", "ignored"),
    [
        (struct(), struct(b=TEXT), {}, ("`b` is in the records (string) and not in the table",), ()),
        (struct(), struct(b=TEXT), {"add": "ignore"}, (), ("`b` is in the records (string) and not in the table",)),
        (struct(a=INT), struct(a=LONG), {}, ("`a` is bigint in the records and int in the table",), ()),
        (struct(a=INT), struct(a=LONG), {"widen": "ignore"}, (),
         ("`a` is bigint in the records and int in the table",)),
        (struct(a=INT), struct(a=T.DoubleType()), EVOLVE, (), ("`a` is double in the records and int in the table",)),
        (struct(a=INT), struct(a=T.BinaryType()), EVOLVE, ("`a` is binary in the records and int in the table",), ()),
        (struct(a=struct(b=INT)), struct(a=INT), EVOLVE,
         ("`a` is int in the records and struct<b:int> in the table",), ()),
        (struct(a=required("a")), struct(a=INT), {"optional": "ignore"},
         ("`a` is required in the table, and optional in the records",), ()),
        (struct(a=struct(b=INT)), struct(a=struct(c=INT)), {"add": "ignore"}, (),
         ("`a.c` is in the records (int) and not in the table",)),
    ],
)  # fmt: skip
def test_what_does_not_change_is_named(
    known: T.StructType, wanted: T.StructType, policies: dict[str, str], refused: tuple[str], ignored: tuple[str]
) -> None:
    found = changes(known, wanted, policies)
    assert (found.changes, found.refused, found.ignored) == ((), refused, ignored)


def test_columns_that_identify_rows_stay_required() -> None:
    assert changes(struct(id=required("id")), struct(id=INT), EVOLVE, keys=["id"]).changes == ()


def test_names_in_another_case_can_be_known() -> None:
    assert changes(struct(Id=INT), struct(ID=LONG), EVOLVE, fold=str.lower).changes == (Change("widen", ("Id",), LONG),)
    assert changes(struct(Id=INT), struct(ID=LONG), EVOLVE).changes == (Change("add", ("ID",), LONG),)


STRUCTS = st.dictionaries(st.sampled_from("abcd"), TYPES, max_size=3).map(lambda members: struct(**members))


@given(STRUCTS)
def test_a_table_of_the_wanted_columns_does_not_change(columns: T.StructType) -> None:
    found = changes(columns, columns, EVOLVE)
    assert (found.changes, found.refused, found.ignored) == ((), (), ())


@given(STRUCTS, STRUCTS)
def test_nothing_is_dropped_renamed_or_made_narrower(known: T.StructType, wanted: T.StructType) -> None:
    for change in changes(known, wanted, EVOLVE).changes:
        assert change.kind in ("add", "widen", "optional")
        if change.kind == "add" and len(change.path) == 1:
            assert change.path[0] not in known.names
