"""Conversions of single values; answers are those of Connect's TimestampConverter."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    DATE,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
)
from airflow_kconnect.connect.error_cells import with_exception
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.expressions.date_patterns import DatePattern
from airflow_kconnect.transforms.expressions.instants import Conversion

DATE_SCHEMA = ConnectSchema(SchemaType.INT32, name=DATE)
TIME_SCHEMA = ConnectSchema(SchemaType.INT32, name=TIME)
TIMESTAMP_SCHEMA = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
TARGETS = {
    "unix": INT64_SCHEMA,
    "string": STRING_SCHEMA,
    "Date": DATE_SCHEMA,
    "Time": TIME_SCHEMA,
    "Timestamp": TIMESTAMP_SCHEMA,
}
PATTERN = "yyyy-MM-dd HH:mm:ss.SSS"
LAST, FIRST = 2**63 - 1, -(2**63)

CONVERTED = [
    # Target, unit, schema, value (times as SQL literals), result as text.
    ("Timestamp", "seconds", INT64_SCHEMA, "1700000000", "2023-11-14 22:13:20"),
    ("Timestamp", "microseconds", INT64_SCHEMA, "-1500", "1969-12-31 23:59:59.999"),
    ("Timestamp", "nanoseconds", INT64_SCHEMA, "1700000000123456789", "2023-11-14 22:13:20.123"),
    ("Timestamp", "milliseconds", DATE_SCHEMA, "DATE'1969-12-31'", "1969-12-31 00:00:00"),
    ("Timestamp", "milliseconds", TIME_SCHEMA, "86399999", "1970-01-01 23:59:59.999"),
    ("Timestamp", "milliseconds", STRING_SCHEMA, "'2024-02-30 1:2:3.4'", "2024-03-01 01:02:03.004"),
    ("unix", "seconds", TIMESTAMP_SCHEMA, "TIMESTAMP'1969-12-31 23:59:58.5'", "-1"),
    ("unix", "microseconds", TIMESTAMP_SCHEMA, "TIMESTAMP'1970-01-01 00:00:01.5'", "1500000"),
    ("unix", "nanoseconds", TIMESTAMP_SCHEMA, "TIMESTAMP'2500-01-01 00:00:00'", str(LAST)),
    ("unix", "nanoseconds", TIMESTAMP_SCHEMA, "TIMESTAMP'1500-01-01 00:00:00'", str(FIRST)),
    ("unix", "seconds", INT64_SCHEMA, str(LAST), str(LAST // 1000)),
    ("unix", "microseconds", INT64_SCHEMA, "1999", "1000"),
    ("Date", "milliseconds", INT64_SCHEMA, "-1", "1969-12-31"),
    ("Time", "milliseconds", INT64_SCHEMA, "-1", "86399999"),
    ("Time", "milliseconds", TIMESTAMP_SCHEMA, "TIMESTAMP'2023-11-14 22:13:20.123'", "80000123"),
    ("Time", "milliseconds", INT64_SCHEMA, str(LAST), "25975807"),
    ("string", "milliseconds", INT64_SCHEMA, "-1", "1969-12-31 23:59:59.999"),
    ("string", "milliseconds", DATE_SCHEMA, "DATE'2024-02-29'", "2024-02-29 00:00:00.000"),
    ("string", "milliseconds", STRING_SCHEMA, "NULL", None),
]
_NO_TYPE = "does not correspond to a known timestamp type format"
_CONNECT_EXCEPTION = "org.apache.kafka.connect.errors.ConnectException"
REFUSED = [
    ("unix", STRING_SCHEMA, "'x'", f"Could not parse timestamp: value (x) does not match pattern ({PATTERN})"),
    ("Timestamp", INT64_SCHEMA, str(FIRST), "Timestamp is out of range"),
    ("Date", INT64_SCHEMA, str(LAST), "Timestamp is out of range"),
    ("string", INT64_SCHEMA, str(LAST), "Timestamp is out of range"),
    ("unix", FLOAT64_SCHEMA, "1.5", with_exception(_CONNECT_EXCEPTION, f"Schema Schema{{FLOAT64}} {_NO_TYPE}")),
    ("unix", FLOAT64_SCHEMA, "NULL", with_exception(_CONNECT_EXCEPTION, f"Schema Schema{{FLOAT64}} {_NO_TYPE}")),
    (
        "unix",
        ConnectSchema(SchemaType.INT32, name="n"),
        "1",
        with_exception(_CONNECT_EXCEPTION, f"Schema Schema{{n:INT32}} {_NO_TYPE}"),
    ),
    (
        "unix",
        ConnectSchema(SchemaType.STRING, name=TIMESTAMP),
        "'x'",
        "Expected Timestamp to be a java.util.Date, but found class java.lang.String",
    ),
]
_CLASS = "TimestampConverter does not support class {} objects as timestamps"
VARIANTS: dict[str, list[tuple[str, str | None]]] = {
    # Target: JSON, result as JSON or error.
    "unix": [
        ("5", "5"),
        ('"1.25"', "1025"),
        ("null", None),
        ("1.5", _CLASS.format("java.lang.Double")),
        ("true", _CLASS.format("java.lang.Boolean")),
        ("[1]", _CLASS.format("java.util.ArrayList")),
        ('{"a":1}', _CLASS.format("java.util.HashMap")),
        ('"x"', "Could not parse timestamp: value (x) does not match pattern (s.S)"),
    ],
    "string": [("1500", '"1.500"')],
    "Timestamp": [("1500", '"1970-01-01 00:00:01.5+00:00"'), (str(LAST), "Timestamp is out of range")],
    "Date": [("-1", '"1969-12-31 00:00:00+00:00"'), (str(FIRST), "Timestamp is out of range")],
    "Time": [("-1", '"1970-01-01 23:59:59.999+00:00"')],
}


def _conversion(target: str, precision: str = "milliseconds", pattern: str | None = PATTERN) -> Conversion:
    return Conversion(target, TARGETS[target], DatePattern.parse(pattern) if pattern else None, precision)


def _first_row(spark: SparkSession, columns: list[Any]) -> list[Any]:
    [row] = spark.sql("VALUES (0)").select(*(column.alias(f"c{n}") for n, column in enumerate(columns))).collect()
    return list(row)


def test_values_of_all_kinds(spark: SparkSession) -> None:
    results = [
        _conversion(target, unit).value(schema, F.expr(value).cast(spark_type(schema)))
        for target, unit, schema, value, _ in CONVERTED
    ]
    found = _first_row(spark, [part.cast("string") for result in results for part in result])
    assert list(zip(found[::2], found[1::2], strict=True)) == [(case[-1], None) for case in CONVERTED]


def test_values_that_are_not_times(spark: SparkSession) -> None:
    results = [
        _conversion(target).value(schema, F.expr(value).cast(spark_type(schema)))
        for target, schema, value, _ in REFUSED
    ]
    assert _first_row(spark, [error for _, error in results]) == [case[-1] for case in REFUSED]
    assert _first_row(spark, [column for column, _ in results]) == [None] * len(REFUSED)


@pytest.mark.parametrize("target", VARIANTS)
def test_schemaless_values(spark: SparkSession, target: str) -> None:
    texts, expected = zip(*VARIANTS[target], strict=True)
    rows = spark.createDataFrame([(text,) for text in texts], "text string").coalesce(1)
    column, error = _conversion(target, pattern="s.S").variant(F.parse_json("text"))
    found = rows.select(F.to_json(column).alias("column"), error.alias("error")).collect()
    assert [row.column if row.error is None else row.error for row in found] == list(expected)
    assert all(row.column is None for row in found if row.error is not None)


def test_schemaless_timestamps(spark: SparkSession) -> None:
    column, error = _conversion("string").variant(F.expr("TIMESTAMP'1970-01-01 00:00:01.5'").cast("variant"))
    assert _first_row(spark, [F.to_json(column), error]) == ['"1970-01-01 00:00:01.500"', None]


@pytest.mark.parametrize("pattern", [None, "YYYY"])
def test_texts_without_a_readable_pattern(spark: SparkSession, pattern: str | None) -> None:
    column, error = _conversion("unix", pattern=pattern).value(STRING_SCHEMA, F.lit("2024"))
    no_format = "java.lang.NullPointerException\x1fTimestampConverter has no format to read texts with"
    wrong = "Could not parse timestamp: value (2024) does not match pattern (YYYY)"
    assert _first_row(spark, [column, error]) == [None, wrong if pattern else no_format]
