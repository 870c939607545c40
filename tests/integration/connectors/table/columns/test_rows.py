"""Records with schemas as rows of tables: what they become, and what does not fit."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.columns import ColumnSettings, wanted_columns
from tests.support.spark.record_frames import decimal, fields, frame_of, logical, message, written

IGNORE = ColumnSettings(evolution={"add": "ignore", "widen": "ignore", "optional": "ignore"})


_FITTING: list[tuple[Any, ...]] = [
    ("int64", 7, "int", 7),
    ("int32", 7, "bigint", 7),
    ("int32", 7, "double", 7.0),
    ("int64", 7, "string", "7"),
    ("double", 7.0, "int", 7),
    ("string", " 12 ", "int", 12),
    ("string", "1.50", "decimal(5,1)", Decimal("1.5")),
    ("string", "true", "boolean", True),
    ("string", "2024-02-29", "date", datetime.date(2024, 2, 29)),
    ("string", "2024-02-29T10:00:00Z", "timestamp_ntz", datetime.datetime(2024, 2, 29, 10)),
    (logical("int64", "Timestamp"), 1, "timestamp_ntz", datetime.datetime(1970, 1, 1, 0, 0, 0, 1000)),
    (logical("int64", "Timestamp"), 86_400_000, "date", datetime.date(1970, 1, 2)),
    (logical("int32", "Date"), 1, "timestamp_ntz", datetime.datetime(1970, 1, 2)),
    ("int64", 86_400_000, "timestamp_ntz", datetime.datetime(1970, 1, 2)),
    ("int32", 1, "date", datetime.date(1970, 1, 2)),
    ({"type": "int64", "name": "io.debezium.time.MicroTimestamp"}, 1, "timestamp_ntz",
     datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
    ({"type": "int64", "name": "io.debezium.time.NanoTimestamp"}, 3000, "timestamp_ntz",
     datetime.datetime(1970, 1, 1, 0, 0, 0, 3)),
    (fields(a="int32?"), {"a": None}, "string", '{"a":null}'),
    ({"type": "array", "items": {"type": "int64"}}, [1, 2], "array<int>", [1, 2]),
    ({"type": "array", "items": fields(a="int64")}, [{"a": 1}], "array<struct<a: int, b: string>>",
     [{"a": 1, "b": None}]),
    (decimal(4), 1.25, "decimal(5,2)", Decimal("1.25")),
    (fields(a="int32"), {"a": 1}, "variant", '{"a":1}'),
    ("string", "x", "variant", '"x"'),
]  # fmt: skip
_OTHERS: list[tuple[Any, ...]] = [
    ("int64", 2**31, "int", "does not fit into int, its type in the table: 2147483648"),
    ("double", 7.5, "int", "does not fit into int, its type in the table: 7.5"),
    ("int64", 2**53 + 1, "double", "does not fit into double, its type in the table: 9007199254740993"),
    (decimal(4), 1.2345, "decimal(5,2)", "does not fit into decimal(5,2), its type in the table: 1.2345"),
    (decimal(2), 1000.25, "decimal(5,2)", "does not fit into decimal(5,2), its type in the table: 1000.25"),
    ("string", "1.25", "decimal(5,1)", "does not fit into decimal(5,1), its type in the table: 1.25"),
    ("string", "1e-9", "decimal(5,1)", "does not fit into decimal(5,1), its type in the table: 1e-9"),
    ("string", "7.5", "int", "does not fit into int, its type in the table: 7.5"),
    ("string", "12:30", "timestamp", "does not fit into timestamp, its type in the table: 12:30"),
    ("string", "2024-01-01T00:00:00.123456789Z", "timestamp",
     "does not fit into timestamp, its type in the table: 2024-01-01T00:00:00.123456789Z"),
    ("string", "2024-01-01 10:00", "date", "does not fit into date, its type in the table: 2024-01-01 10:00"),
    ("int64", 2**62, "timestamp", "does not fit into timestamp, its type in the table: 4611686018427387904"),
    (logical("int64", "Timestamp"), 1, "date",
     "does not fit into date, its type in the table: 1970-01-01 00:00:00.001"),
    (logical("int32", "Date"), 2**31 - 1, "timestamp",
     "does not fit into timestamp, its type in the table: +5881580-07-11"),
    ({"type": "int64", "name": "io.debezium.time.MicroTime"}, 1, "timestamp",
     "is bigint, and timestamp in the table"),
    ({"type": "array", "items": {"type": "int64"}}, [1, 2**40], "array<int>",
     "[]` does not fit into int, its type in the table: 1099511627776"),
    ({"type": "map", "keys": {"type": "string"}, "values": {"type": "int64"}}, {"a": 2**40}, "map<string, int>",
     "[]` does not fit into int, its type in the table: 1099511627776"),
    (fields(a=fields(b="int64")), {"a": {"b": 2**40}}, "struct<a: struct<b: int>>",
     ".a.b` does not fit into int, its type in the table: 1099511627776"),
    (fields(a="int32"), {"a": 1}, "int", "is struct<a:int>, and int in the table"),
    ("bytes", "AAE=", "string", "is binary, and string in the table"),
    (fields(a="int32?"), {"a": None}, "struct<a: int not null>",
     ".a` is null or missing, and is required in the table"),
]  # fmt: skip


def columns(ddl: str) -> T.StructType:
    type_ = T.StructType.fromDDL(ddl)
    assert isinstance(type_, T.StructType)
    return type_


# Each column has an expression for each schema: Spark compiles several small plans in less time than that of all cases.
_AT_ONCE = 6


def each(spark: SparkSession, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What becomes of a record for each case, with its one field: ``x0``, ``x1`` ...

    :param cases: schema of the field, its value, and the type of its column.
    """
    found: list[Any] = []
    for first in range(0, len(cases), _AT_ONCE):
        some = {f"x{first + n}": case for n, case in enumerate(cases[first : first + _AT_ONCE])}
        values = [message(fields(**{name: schema}), {name: value}) for name, (schema, value, *_) in some.items()]
        known = columns(", ".join(f"{name} {case[2]}" for name, case in some.items()))
        cells = written(frame_of(spark, values), known, IGNORE)
        found += [cell if isinstance(cell, str) else cell[n] for n, cell in enumerate(cells)]
    return found


def test_wanted_columns_are_those_of_all_shapes(spark: SparkSession) -> None:
    doc = {"type": "int32", "optional": False, "doc": "who it is"}
    frame = frame_of(
        spark,
        [
            message(fields(id=doc, name="string?", total=decimal(2, 10), at=logical("int64", "Timestamp")), None),
            message(fields(id="int64", tags={"type": "array", "items": {"type": "string", "optional": False}}), None),
            message(fields(id="int32", part=fields(a="int32", b=logical("int32", "Date"))), None),
        ],
    )
    wanted = wanted_columns(frame, ColumnSettings(metadata={"topic": "t", "timestamp": "ts"}), None)
    assert wanted.fields[0] == T.StructField("id", T.LongType(), False, {"comment": "who it is"})
    assert wanted.simpleString() == (
        "struct<id:bigint,name:string,total:decimal(10,2),at:timestamp,tags:array<string>,"
        "part:struct<a:int,b:date>,t:string,ts:timestamp>"
    )
    assert not wanted["tags"].dataType.containsNull  # type: ignore[attr-defined]
    assert all(field.nullable for field in wanted.fields[1:])


def test_values_of_all_types_arrive(spark: SparkSession) -> None:
    schema = fields(
        flag="boolean", small="int8", whole="int64", part="double", text="string", raw="bytes", total=decimal(2),
        day=logical("int32", "Date"), at=logical("int64", "Timestamp"),
        tags={"type": "array", "items": {"type": "int32"}},
        sizes={"type": "map", "keys": {"type": "string"}, "values": {"type": "int64"}},
        inner=fields(a="int32"),
    )  # fmt: skip
    payload = {
        "flag": True, "small": 1, "whole": 2**62, "part": 0.5, "text": "é", "raw": "AAE=", "total": 1.25, "day": 1,
        "at": 1, "tags": [1, 2], "sizes": {"a": 1}, "inner": {"a": 3},
    }  # fmt: skip
    frame = frame_of(spark, [message(schema, payload)])
    assert written(frame, wanted_columns(frame, ColumnSettings(), None), ColumnSettings()) == [
        (True, 1, 2**62, 0.5, "é", b"\x00\x01", Decimal("1.25"), datetime.date(1970, 1, 2),
         _moment(1), [1, 2], {"a": 1}, {"a": 3})
    ]  # fmt: skip


def _moment(millis: int) -> datetime.datetime:
    """As `collect` returns it: local time."""
    return datetime.datetime.fromtimestamp(millis / 1000)


def test_records_without_a_field_have_null_and_other_fields_are_left_out(spark: SparkSession) -> None:
    frame = frame_of(spark, [message(fields(a="int32"), {"a": 1}), message(fields(b="string"), {"b": "x"})])
    assert written(frame, columns("a int, c string"), IGNORE) == [(1, None), (None, None)]


def test_records_with_new_fields_are_bad_unless_they_are_ignored(spark: SparkSession) -> None:
    new = fields(a="int32", inner=fields(b="int32", c="int32"))
    frame = frame_of(
        spark, [message(fields(a="int32"), {"a": 1}), message(new, {"a": 1, "inner": {"b": 1, "c": 2}}), None]
    )
    found = written(frame, columns("a int, inner struct<b int>"), ColumnSettings())
    why = "changes of this kind (`add`) are set to fail"
    assert found == [(1, None), f"field `inner.c` is not in the table, and {why}", (None, None)]
    assert written(frame, columns("a int, inner struct<b int>"), IGNORE)[1] == (1, {"b": 1})


def test_values_fit_into_columns_of_other_types(spark: SparkSession) -> None:
    found = each(spark, _FITTING)
    assert found == [case[3] for case in _FITTING]


def test_values_that_do_not_fit_are_errors_with_the_field(spark: SparkSession) -> None:
    found = each(spark, _OTHERS)
    for n, (case, error) in enumerate(zip(_OTHERS, found, strict=True)):
        expected = case[3] if case[3].startswith((".", "[")) else f"` {case[3]}"
        assert error == f"field `x{n}{expected}"


def test_a_null_for_a_required_column_is_an_error(spark: SparkSession) -> None:
    frame = frame_of(spark, [message(fields(x="int32?"), {"x": None}), message(fields(y="int32"), {"y": 1})])
    error = "field `x` is null or missing, and is required in the table"
    assert written(frame, columns("x int not null, y int"), IGNORE) == [error, error]


def test_null_fits_where_no_value_would(spark: SparkSession) -> None:
    schema = {**fields(a="int32"), "optional": True}
    assert each(spark, [(schema, None, "int")]) == [None]


def test_fields_of_one_name_in_any_case_are_an_error(spark: SparkSession) -> None:
    frame = frame_of(
        spark, [message(fields(Id="int32", ID="int32"), {"Id": 1, "ID": 2}), message(fields(ID="int32"), {"ID": 3})]
    )
    settings = ColumnSettings(case_insensitive=True)
    (name,) = wanted_columns(frame, settings, None).names
    assert name.lower() == "id"
    assert written(frame, columns("id int"), settings) == ["fields `Id` and `ID` are one column", (3,)]


def test_odd_names_are_names(spark: SparkSession) -> None:
    names = ["a.b", "a b", "a`b", "select", "größe", '"', "a:b,c<d>"]
    schema = fields(**dict.fromkeys(names, "int32"), inner=fields(**dict.fromkeys(names, "int64")))
    payload = {**dict(zip(names, range(7), strict=True)), "inner": dict(zip(names, range(7), strict=True))}
    frame = frame_of(spark, [message(schema, payload)])
    known = T.StructType(
        [
            *(T.StructField(name, T.IntegerType()) for name in names),
            T.StructField("inner", T.StructType([T.StructField(name, T.IntegerType()) for name in names])),
        ]
    )
    assert written(frame, known, IGNORE) == [(*range(7), dict(zip(names, range(7), strict=True)))]


def test_values_that_are_no_structs_have_the_column_value(spark: SparkSession) -> None:
    frame = frame_of(
        spark, [message({"type": "string"}, "a"), message({"type": "int64"}, 1), message(fields(b="int32"), {"b": 2})]
    )
    wanted = wanted_columns(frame, ColumnSettings(), None)
    assert wanted.simpleString() == "struct<value:string,b:int>"
    assert written(frame, wanted, ColumnSettings()) == [("a", None), ("1", None), (None, 2)]


def test_metadata_has_columns_of_their_own(spark: SparkSession) -> None:
    frame = frame_of(spark, [message(fields(a="int32"), {"a": 1})], [message(fields(id="int32"), {"id": 5})])
    settings = ColumnSettings(metadata=dict(topic="_t", partition="_p", offset="_o", timestamp="_ts", key="_k"))
    wanted = wanted_columns(frame, settings, None)
    assert wanted.simpleString() == "struct<a:int,_t:string,_p:int,_o:bigint,_ts:timestamp,_k:string>"
    assert written(frame, wanted, settings) == [(1, "orders", 0, 0, _moment(1_700_000_000_000), '{"id":5}')]


def test_fields_of_keys_are_columns_where_asked(spark: SparkSession) -> None:
    key = fields(id="int32", region="string")
    frame = frame_of(
        spark,
        [message(fields(id="int64", name="string"), {"id": 1, "name": "a"}), None],
        [message(key, {"id": 1, "region": "eu"}), message(key, {"id": 2, "region": "us"})],
    )
    settings = ColumnSettings(key=("id",))
    wanted = wanted_columns(frame, settings, None)
    assert [(each.name, each.dataType.simpleString(), each.nullable) for each in wanted.fields] == [
        ("id", "bigint", False),
        ("name", "string", False),
    ]
    marked = frame.with_columns({"deleted": frame.df["value_tag"].isNull()})
    marked = type(marked)(**{**marked.__dict__, "carried": (*marked.carried, "deleted")})
    assert written(marked, wanted, settings, deleted="deleted") == [(1, "a"), (2, None)]


def test_keys_that_are_no_structs_have_a_name_as_columns(spark: SparkSession) -> None:
    frame = frame_of(spark, [message(fields(a="int32"), {"a": 1})], [message({"type": "string"}, "k1")])
    settings = ColumnSettings(key=("id",))
    wanted = wanted_columns(frame, settings, None)
    assert wanted.simpleString() == "struct<id:string,a:int>"
    assert written(frame, wanted, settings) == [("k1", 1)]
