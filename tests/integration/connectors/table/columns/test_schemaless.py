"""Schemaless values as rows of tables: by the names of their members, with inferred columns, or as a whole."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.columns.columns import ColumnSettings, wanted_columns
from airflow_kconnect.connectors.table.columns.evolution import Change, changes
from airflow_kconnect.connectors.table.columns.schemaless import type_of
from tests.support.spark.record_frames import frame_of, written

IGNORE = ColumnSettings(evolution={"add": "ignore", "widen": "ignore", "optional": "ignore"})
EVOLVE = ColumnSettings(evolution={"add": "evolve", "widen": "evolve", "optional": "evolve"})


_CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("int", {"7": 7, "0": 0, "1": 1, "7.0": 7, "1e2": 100, '"7"': 7, "null": None},
     ["2147483648", "7.5", "true", "false", '"a"', "[1]", "{}"]),
    ("bigint", {"9223372036854775807": 2**63 - 1, "9007199254740993": 2**53 + 1, "4503599627370497.0": 2**52 + 1},
     ["9223372036854775808"]),
    ("double", {"0.1": 0.1, "1": 1.0, "1e300": 1e300}, ["true", '"a"', "{}"]),
    ("float", {"0.5": 0.5}, ["1e300", "true"]),
    ("decimal(5,2)", {"1.25": Decimal("1.25"), "1.250": Decimal("1.25"), "12": Decimal(12), "1e1": Decimal(10),
                      '"1.5"': Decimal("1.5")},
     ["1.255", "1000", "true", "1e-5", '"a"']),
    ("boolean", {"true": True, "false": False, '"true"': True}, ["1", "0", '"a"', '"yes"']),
    ("string", {'"a"': "a", "1": "1", "true": "true", '{"b":[1]}': '{"b":[1]}', "[1]": "[1]"}, []),
    ("date", {'"2024-02-29"': datetime.date(2024, 2, 29), "1": datetime.date(1970, 1, 2)},
     ['"2024-02-30"', '"1"', "1.5", "true"]),
    ("timestamp_ntz", {'"2024-02-29T10:00:00Z"': datetime.datetime(2024, 2, 29, 10),
                       "1500": datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000)},
     ['"2024"', '"12:30"', "1.5", "9223372036854775807", "true"]),
    ("binary", {'"AAE="': b"\x00\x01"}, ['"?"', "1"]),
    ("array<int>", {"[1,2]": [1, 2], "[null]": [None], "[]": []}, ["[1.5]", '["a"]', "1", "{}"]),
    ("map<string,int>", {'{"a":1}': {"a": 1}}, ['{"a":"x"}', "[1]"]),
    ("struct<a: int, b: string>", {'{"a":1}': {"a": 1, "b": None}, "{}": {"a": None, "b": None}},
     ['{"a":"x"}', "[1]", "1"]),
    ("variant", {'{"b":[1]}': '{"b":[1]}', "1": "1"}, []),
]  # fmt: skip


def columns(ddl: str) -> T.StructType:
    type_ = T.StructType.fromDDL(ddl)
    assert isinstance(type_, T.StructType)
    return type_


def schemaless(spark: SparkSession, *values: str) -> RecordFrame:
    return frame_of(spark, [value.encode() for value in values], schemas=False)


def test_members_fit_by_their_values(spark: SparkSession) -> None:
    values = [(n, text) for n, (_, fitting, others) in enumerate(_CASES) for text in (*fitting, *others)]
    frame = schemaless(spark, *(f'{{"x{n}": {text}}}' for n, text in values))
    known = columns(", ".join(f"x{n} {ddl}" for n, (ddl, *_) in enumerate(_CASES)))
    for (n, text), found in zip(values, written(frame, known, IGNORE), strict=True):
        ddl, fitting, _ = _CASES[n]
        if text in fitting:
            assert not isinstance(found, str), (ddl, found)
            assert found[n] == fitting[text], (ddl, text)
        else:
            assert isinstance(found, str), (ddl, text, found)
            assert found.startswith(f"field `x{n}"), (ddl, text)
            assert " does not fit into " in found, (ddl, text)


def test_a_text_that_names_the_value_says_what_does_not_fit(spark: SparkSession) -> None:
    frame = schemaless(spark, '{"x": {"a": [1, "x"]}}')
    error = 'field `x.a[]` does not fit into int, its type in the table: "x"'
    assert written(frame, columns("x struct<a: array<int>>"), IGNORE) == [error]


def test_required_members_must_be_there(spark: SparkSession) -> None:
    frame = schemaless(spark, '{"x": 1}', '{"x": null}', '{"y": {"z": null}}', '{"x": 1, "y": {}}')
    assert written(frame, columns("x int not null, y struct<z: int not null>"), IGNORE) == [
        (1, None),
        "field `x` is null or missing, and is required in the table",
        "field `y.z` is null or missing, and is required in the table",
        "field `y.z` is null or missing, and is required in the table",
    ]


def test_other_members_are_bad_unless_they_are_ignored(spark: SparkSession) -> None:
    frame = schemaless(spark, '{"x": 1}', '{"x": 1, "y": 2}', '{"x": 1, "z": null}')
    why = "changes of this kind (`add`) are set to fail"
    assert written(frame, columns("x int"), ColumnSettings()) == [
        (1,),
        f"field `y` is not in the table, and {why}",
        (1,),
    ]
    assert written(frame, columns("x int"), IGNORE) == [(1,)] * 3


def test_columns_are_inferred_from_all_values(spark: SparkSession) -> None:
    frame = schemaless(
        spark,
        '{"a": 1, "b": 1, "c": "x", "d": true, "e": [1], "f": {"g": 1}, "odd name": 1, "n": null, "l": [], "o": {}}',
        '{"a": 2, "b": 0.5, "c": 7, "e": [0.5], "f": {"h": "x"}, "a`b.c": 1}',
        '{"b": 1e300}',
    )
    wanted = wanted_columns(frame, ColumnSettings(), None)
    assert {field.name: field.dataType.simpleString() for field in wanted.fields} == {
        "a": "bigint",
        "b": "double",
        "c": "string",
        "d": "boolean",
        "e": "array<double>",
        "f": "struct<g:bigint,h:string>",
        "odd name": "bigint",
        "a`b.c": "bigint",
    }
    assert written(frame, wanted, EVOLVE)[1] == tuple(
        {"a": 2, "b": 0.5, "c": "7", "e": [0.5], "f": {"g": None, "h": "x"}, "a`b.c": 1}.get(name)
        for name in wanted.names
    )


def test_a_table_gets_columns_for_new_members_only(spark: SparkSession) -> None:
    known = columns("id int not null, size smallint, s struct<a: float>, other string not null")
    frame = schemaless(spark, '{"id": 1, "size": 40000, "s": {"a": 1, "b": 2}, "t": "x"}', '{"id": 2, "t": "y"}')
    wanted = wanted_columns(frame, EVOLVE, known)
    assert set(changes(known, wanted, EVOLVE.evolution).changes) == {
        Change("widen", ("size",), T.LongType()),
        Change("add", ("s", "b"), T.LongType()),
        Change("add", ("t",), T.StringType()),
        Change("optional", ("other",)),
    }


def test_nothing_is_looked_at_if_the_table_may_not_change(spark: SparkSession) -> None:
    known = columns("id int not null")
    assert wanted_columns(schemaless(spark, '{"x": 1}'), IGNORE, known) == known


def test_values_that_are_no_objects_have_the_column_value(spark: SparkSession) -> None:
    frame = schemaless(spark, '{"a": 1}', "5", '"text"', "[1]", "null")
    wanted = wanted_columns(frame, ColumnSettings(), None)
    assert wanted.simpleString() == "struct<a:bigint,value:string>"
    assert written(frame, wanted, ColumnSettings()) == [
        (1, None),
        (None, "5"),
        (None, "text"),
        (None, "[1]"),
        (None, None),
    ]
    assert written(frame, columns("a int"), IGNORE)[:2] == [
        (1,),
        "the value is not an object, and the table has no column `value`",
    ]


def test_members_can_be_found_in_any_case(spark: SparkSession) -> None:
    frame = schemaless(spark, '{"ID": 1, "In": {"A": 2}}', '{"id": 1, "Id": 2}')
    settings = ColumnSettings(case_insensitive=True)
    assert written(frame, columns("id int, in struct<a: int>"), settings) == [
        (1, {"a": 2}),
        "fields Id, id are one column",
    ]


@pytest.mark.parametrize("ddl", ["doc variant", "doc string"])
def test_a_value_as_a_whole(spark: SparkSession, ddl: str) -> None:
    settings = ColumnSettings(value="doc", schemaless="json" if ddl == "doc string" else "variant")
    frame = schemaless(spark, '{"b": [1, null], "a": "x"}', '"text"', "1")
    assert wanted_columns(frame, settings, None) == columns(ddl)
    assert written(frame, columns(ddl), settings) == [('{"a":"x","b":[1,null]}',), ('"text"',), ("1",)]


def test_members_with_odd_names_are_found(spark: SparkSession) -> None:
    names = ["a b", "a.b", "a`b", "a'b", 'a"b', "a?b", "a[0]", " a ", "größe", "$", "@x", "0", "select"]
    frame = schemaless(spark, json.dumps({name: n for n, name in enumerate(names)}))
    assert sorted(wanted_columns(frame, ColumnSettings(), None).names) == sorted(names)
    known = T.StructType([T.StructField(name, T.IntegerType()) for name in names])
    assert written(frame, known, IGNORE) == [tuple(range(len(names)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OBJECT<a: BIGINT, `b c`: ARRAY<OBJECT<d: DECIMAL(3,1)>>>", "struct<a:bigint,b c:array<struct<d:double>>>"),
        ("OBJECT<`a``b`: VARIANT, n: VOID>", "struct<a`b:string>"),
        ("ARRAY<VOID>", None),
        ("OBJECT<a: OBJECT<>>", None),
        ("VOID", None),
        (None, None),
    ],
)
def test_what_spark_says_of_values_as_types(text: str | None, expected: str | None) -> None:
    type_ = type_of(text)
    assert (type_ and type_.simpleString()) == expected
