"""Casts of values, whole and in fields; answers are those of Connect's Cast."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import zip_longest
from math import nan
from typing import Any

from pyspark.sql import SparkSession, types
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
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
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.smt.cast.values import cast_value, cast_variant
from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

DECIMAL_SCHEMA = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "8"})
DATE_SCHEMA = ConnectSchema(SchemaType.INT32, name=DATE)
TIME_SCHEMA = ConnectSchema(SchemaType.INT32, name=TIME)
TIMESTAMP_SCHEMA = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
LAST, FIRST = 2**63 - 1, -(2**63)


def out_of_range(text: str) -> str:
    return f"Value ({text}) was out of range for requested data type"


FAILING = {
    SchemaType.INT8: ("128", "", "7\n", "0x7"),
    SchemaType.INT64: (str(LAST + 1), " 7", "1.0", "+"),
    SchemaType.FLOAT32: ("inf", "-infinity", "1_0"),
    SchemaType.FLOAT64: ("nan", "", "+ 1"),
}
CASTS: list[tuple[ConnectSchema, SchemaType, dict[Any, str]]] = [
    # Values and the texts of what they become.
    (INT64_SCHEMA, SchemaType.INT8, {300: "44", -129: "127", 2**31: "0", FIRST: "0"}),
    (INT64_SCHEMA, SchemaType.INT32, {1_700_000_000_123: "-807049093", LAST: "-1"}),
    (INT64_SCHEMA, SchemaType.BOOLEAN, {0: "false", -5: "true", 2**32: "true"}),
    (BOOLEAN_SCHEMA, SchemaType.INT16, {True: "1", False: "0"}),
    (BOOLEAN_SCHEMA, SchemaType.STRING, {True: "true", False: "false"}),
    (FLOAT64_SCHEMA, SchemaType.INT8, {1e10: "-1", -1e10: "0", 200.9: "-56", -2.75: "-2", nan: "0"}),
    (FLOAT64_SCHEMA, SchemaType.INT32, {1e10: "2147483647", -1e10: "-2147483648", 2147483647.5: "2147483647"}),
    (FLOAT64_SCHEMA, SchemaType.INT64, {1e19: str(LAST), -1e19: str(FIRST), 9.2e18: "9200000000000000000"}),
    (FLOAT64_SCHEMA, SchemaType.BOOLEAN, {0.5: "false", -1.0: "true", nan: "false"}),
    (FLOAT64_SCHEMA, SchemaType.FLOAT32, {1e300: "Infinity", 0.5: "0.5"}),
    (FLOAT64_SCHEMA, SchemaType.STRING, {1e7: "1.0E7", 100.0: "100.0", 0.001: "0.001", 1e-4: "1.0E-4"}),
    (STRING_SCHEMA, SchemaType.INT8, {"+7": "7", "007": "7", "-128": "-128"}),
    (STRING_SCHEMA, SchemaType.INT64, {str(FIRST): str(FIRST)}),
    (STRING_SCHEMA, SchemaType.FLOAT64, {" 1.5d\n": "1.5", "0x1p3": "8.0", "1e400": "Infinity", "+NaN": "NaN"}),
    (STRING_SCHEMA, SchemaType.FLOAT32, {" -Infinity ": "-Infinity", ".5f": "0.5"}),
    (STRING_SCHEMA, SchemaType.BOOLEAN, {"TRUE": "true", " true": "false", "yes": "false"}),
    *((STRING_SCHEMA, target, {text: out_of_range(text) for text in texts}) for target, texts in FAILING.items()),
    (BYTES_SCHEMA, SchemaType.STRING, {b"\0\1": "AAE=", b"x" * 90: "eHh4" * 30}),
    (BYTES_SCHEMA, SchemaType.INT8, {b"7": "Unexpected type in Cast transformation: class [B"}),
    (DECIMAL_SCHEMA, SchemaType.INT8, {Decimal("-300.9"): "-44", Decimal(2**64 + 3): "3", Decimal("0.5"): "0"}),
    (DECIMAL_SCHEMA, SchemaType.INT64, {Decimal(2**63): str(FIRST), Decimal(FIRST - 1): str(LAST)}),
    (DECIMAL_SCHEMA, SchemaType.BOOLEAN, {Decimal("0.5"): "false", Decimal(2**64): "false", Decimal("1.5"): "true"}),
    (DECIMAL_SCHEMA, SchemaType.FLOAT64, {Decimal("-0.1"): "-0.1"}),
    (DECIMAL_SCHEMA, SchemaType.STRING, {Decimal("1E-8"): "1E-8", Decimal(0): "0E-8", Decimal("0.5"): "0.50000000"}),
    (DATE_SCHEMA, SchemaType.INT32, {date(2023, 11, 14): "19675"}),
    (DATE_SCHEMA, SchemaType.STRING, {date(2023, 11, 14): "2023-11-14", date(1960, 1, 1): "00:00:00.000Z"}),
    (TIME_SCHEMA, SchemaType.INT8, {58_476_081: "49"}),
    (TIME_SCHEMA, SchemaType.STRING, {58_476_081: "16:14:36.081Z"}),
    (TIMESTAMP_SCHEMA, SchemaType.INT64, {datetime(2023, 11, 14, tzinfo=UTC): "1699920000000"}),
    (
        TIMESTAMP_SCHEMA,
        SchemaType.STRING,
        {
            datetime(2023, 11, 14, 1, 2, 3, 4000, UTC): "2023-11-14T01:02:03.004Z",
            datetime(2023, 11, 14, tzinfo=UTC): "2023-11-14",
            datetime(1960, 1, 1, 1, tzinfo=UTC): "01:00:00.000Z",
        },
    ),
]


def test_casts_of_values(spark: SparkSession) -> None:
    schema = types.StructType([types.StructField(f"c{n}", spark_type(of)) for n, (of, _, _) in enumerate(CASTS)])
    rows = spark.createDataFrame(list(zip_longest(*(values for _, _, values in CASTS))), schema).coalesce(1)
    casts = [cast_value(of, F.col(f"c{n}"), target) for n, (of, target, _) in enumerate(CASTS)]
    shown = [cast.column.cast("string") for cast in casts]
    texts = [
        F.coalesce(cast.error, text) if cast.error is not None else text
        for cast, text in zip(casts, shown, strict=True)
    ]
    found = zip(*rows.select([text.alias(f"c{n}") for n, text in enumerate(texts)]).collect(), strict=True)
    for (of_, target, values), results in zip(CASTS, found, strict=True):
        padded = [*values.values(), *[None] * (len(results) - len(values))]
        assert list(results) == padded, (of_, target)


def test_fields_lose_all_but_their_defaults() -> None:
    named = {"type": "string", "optional": True, "name": "n", "doc": "d", "default": "0.1"}
    old = struct({"a": named, "b": LONG, "c": DEFAULTED}, name="N", doc="D", optional=True)
    cast = {"type": "float", "optional": True, "default": 0.1}
    new = struct(
        {"a": cast, "b": {"type": "string", "optional": False}, "c": DEFAULTED}, name="N", doc="D", optional=True
    )
    answers = transformed(
        "Cast$Value",
        {"spec": "a:float32,b:string,absent:int8"},
        [
            of(old, {"a": "7", "b": 1, "c": "x"}),
            of(old, {"a": None, "b": 1, "c": None}),
            of(old, {"a": "x", "b": 1, "c": "x"}),
            of(old, None),
            of(TEXT, "text"),
            of(TEXT, None),
            None,
        ],
    )
    assert values_of(answers) == [
        of(new, {"a": 7.0, "b": "1", "c": "x"}),
        of(new, {"a": 0.1, "b": "1", "c": "preset"}),
        "DataException: Value (x) was out of range for requested data type",
        of(old, None),
        "DataException: Cannot list fields on non-struct type",
        of(TEXT, None),
        None,
    ]


def test_nulls_stay_if_defaults_are_not_wanted() -> None:
    answers = transformed(
        "Cast$Value",
        {"spec": "a:string", "replace.null.with.default": "false"},
        [of(struct({"a": {**DEFAULTED, "doc": "d"}, "b": DEFAULTED}), {"a": None, "b": None})],
    )
    assert values_of(answers) == [of(struct({"a": DEFAULTED, "b": DEFAULTED}), {"a": None, "b": None})]


def test_defaults_must_be_castable_too() -> None:
    values = [of(struct({"a": {**LONG, "default": 5}}), {"a": 1}), of(struct({"a": DEFAULTED}), {"a": "1"})]
    answers = transformed("Cast$Value", {"spec": "a:int8"}, values)
    assert values_of(answers) == [
        of(struct({"a": {"type": "int8", "optional": False, "default": 5}}), {"a": 1}),
        "DataException: Value (preset) was out of range for requested data type",
    ]


def test_whole_values_keep_all_but_their_types() -> None:
    long = {"type": "int64", "optional": True, "name": "n", "version": 2, "doc": "d", "default": 300}
    timestamp = {"type": "int64", "optional": False, "name": TIMESTAMP, "version": 1}
    numbers = {"type": "array", "items": LONG, "optional": True}
    answers = transformed(
        "Cast$Value",
        {"spec": "int64"},
        [of(long, 1), of(long, None), of(timestamp, 5), of(numbers, [1]), of(numbers, None)],
    )
    types_ = "[INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING, BYTES]"
    assert values_of(answers) == [
        of(long, 1),
        of(long, None),
        # Connect keeps the name, with which its converters cannot write the number.
        of(LONG, 5),
        f"DataException: Cast transformation does not support casting from ARRAY; supported types are {types_}",
        of(numbers, None),
    ]
    assert values_of(transformed("Cast$Value", {"spec": "int8"}, [of(long, 1)])) == [
        of({**long, "type": "int8", "default": 44}, 1)
    ]


def test_schemaless_fields() -> None:
    names = {"a.b": "int8", "it's": "string", """"'q'\"""": "boolean"}
    answers = transformed(
        "Cast$Value",
        {"spec": ",".join(f"{name}:{type_}" for name, type_ in names.items())},
        [
            bare({"a.b": "7", "it's": 1.0, """"'q'\"""": 2, "z": {"x": [None]}}),
            bare({"a.b": None}),
            bare({"a.b": 300.5, "it's": True}),
            bare({"a.b": "300"}),
            bare({"it's": [1]}),
            bare([1]),
            None,
        ],
    )
    nulls = dict.fromkeys(names)
    types_ = "[INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING, BYTES]"
    assert values_of(answers) == [
        bare({"a.b": 7, "it's": "1.0", """"'q'\"""": True, "z": {"x": [None]}}),
        bare(nulls),
        bare({**nulls, "a.b": 44, "it's": "true"}),
        "DataException: Value (300) was out of range for requested data type",
        f"DataException: Cast transformation does not support casting from ARRAY; supported types are {types_}",
        "DataException: Only Map objects supported in absence of schema for [cast types], found: java.util.ArrayList",
        None,
    ]


def test_schemaless_values_of_all_kinds(spark: SparkSession) -> None:
    float_ = F.lit(0.1).cast("float").cast("variant")
    kinds = [
        float_,
        F.lit(b"\0").cast("variant"),
        F.timestamp_millis(F.lit(0)).cast("variant"),
        F.parse_json(F.lit("null")),
    ]
    casts = [cast_variant(kind, SchemaType.STRING) for kind in kinds]
    pairs = [F.array(F.to_json(column), error) for column, error in casts if error is not None]
    [row] = spark.sql("VALUES (0)").select(pairs).collect()
    no_type = "Cast transformation was passed a value of type class java.util.Date which is not supported"
    assert [error or column for column, error in row] == [
        '"0.1"',
        '"AA=="',
        f"{no_type} by Connect's data API",
        None,
    ]
