"""Texts of times against the answers of java.text.SimpleDateFormat (Java 17, Locale.US, UTC)."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.transforms.expressions.date_patterns import DatePattern
from airflow_kconnect.transforms.expressions.date_texts import read, written

# Pattern, text, milliseconds (None: Java does not parse the text).
READ = [
    ("yyyy-MM-dd", "2024-01-02", 1704153600000),
    ("yyyy-MM-dd", "2024-01-02T03:04:05", 1704153600000),
    ("yyyy-MM-dd", "2024-1-2", 1704153600000),
    ("yyyy-MM-dd", "2024-13-45", 1739491200000),
    ("yyyy-MM-dd", "2024--1-02", 1698883200000),
    ("yyyy-MM-dd", " 2024-01-02", 1704153600000),
    ("yyyy-MM-dd", "2024-01", None),
    ("yyyy-MM-dd", "+2024-01-02", None),
    ("yyyy-MM-dd", "99999-01-01", 3093496444800000),
    ("yyyy-MM-dd", "", None),
    ("yy-MM-dd", "24-1-2", 1704153600000),
    ("yyyyMMdd", "20240102", 1704153600000),
    ("yyyyMMdd", "2024-01-02", 1701388800000),
    ("yyyyMMdd", "2024 123", 1705968000000),
    ("yyyyMMdd", "202412", None),
    ("yyyyMMd", "2024113", 1730592000000),
    ("yyyyMMddHHmmssSSS", "20240102030405678", 1704164645678),
    ("yyyyMMddHHmmssSSS", "2024010203040567", 1704164645067),
    ("yyyyMMdd'T'HHmmss", "20240102T030405", 1704164645000),
    ("yyyyMMdd'T'HHmmss", "20240102t030405", None),
    ("dMMMyyyy", "12Jan2024", 1705017600000),
    ("ddMMMyyyy", "2JAN2024", 1704153600000),
    ("ddMMMyyyy", "2 JAN2024", None),
    ("ddMMMyyyy", "2JAN 2024", 1704153600000),
    ("MMM", "Mayday", 10368000000),
    ("MMM", "mai", None),
    ("EEE, dd MMM yyyy HH:mm:ss z", "Tue, 02 Jan 2024 03:04:05 GMT", 1704164645000),
    ("EEE, dd MMM yyyy HH:mm:ss z", "Friday, 02 January 2024 03:04:05 GMT", 1704164645000),
    ("HHmmX", "0304Z", 11040000),
    ("HHmmX", "0304+0230", 3840000),
    ("HHmmX", "0304z", None),
    ("HHmmXX", "0304-0230", 20040000),
    ("HHmmXXX", "0304+02:30", 2040000),
    ("HHmmXXX", "0304+0230", None),
    ("HHmmZ", "0304-0830", 41640000),
    ("HHmmZ", "0304+2400", None),
    ("HHmmz", "0304GMT+5:30", -8760000),
    ("HHmmz", "0304GMT+5", None),
    ("HHmmz", "0304 pdt", 36240000),
    ("HHmmz", "0304CEST", 3840000),
    ("HHmmz", "0304Europe/Berlin", None),
    ("HH:mm:ss.SSS", "03:04:05.123456", 11168456),
    ("HH:mm:ss.SSS", "03:04:05.5", 11045005),
    ("HH:mm:ss", "25:61:61", 93721000),
    ("hh:mm a", "12:30 AM", 1800000),
    ("hh:mm a", "12:30 pm", 45000000),
    ("KK:mm a", "12:30 PM", 88200000),
    ("kk:mm", "24:30", 1800000),
    ("HH:mm a", "03:30 PM", 12600000),
    ("a", "PM", 43200000),
    ("yyyy-DDD", "2024-366", 1735603200000),
    ("yyyy-DDD-dd", "2024-032-05", 1704412800000),
    ("MM/dd", "02/29", 5097600000),
    ("'x'", "x", 0),
    ("'a.b*'yyyy", "a.b*2024", 1704067200000),
]

# Beyond Spark's calendar, or beyond an INT: no text may make an expression throw.
EXTREME = [
    ("yyyy-MM-dd", "999999-01-01", None),
    ("yyyy-MM-dd", "99999999999999999999-01-01", None),
    ("yyyy-MM-dd", "2024-2147483647-01", None),
    ("yyyy-MM-dd", "2024-01-99999999999999999999", None),
    ("H", "2147483647", 7730941129200000),
    ("h a", "2147483647 PM", 7730941172400000),
]

# Pattern, milliseconds, text.
WRITTEN = [
    ("yyyy-MM-dd'T'HH:mm:ss.SSSX", 1700000000123, "2023-11-14T22:13:20.123Z"),
    ("yyyyMMdd", -1, "19691231"),
    ("YYYY-'W'ww-u", 1703980800000, "2024-W01-7"),
    ("YYYY-'W'ww-u", 1704067199999, "2024-W01-7"),
    ("YYYY yy", 1735516800000, "2025 24"),
    ("yy/M/d h:m:s a", 951782400000, "00/2/29 12:0:0 AM"),
    ("G y yyy yyyyy", 1700000000123, "AD 2023 2023 02023"),
    ("M MM MMM MMMM LLL LLLL", 1709164800000, "2 02 Feb February Feb February"),
    ("D DDD d dd F W w E EEEE u uu", 1709164800000, "60 060 29 29 5 5 9 Thu Thursday 4 04"),
    ("H k K h HH kk KK hh", 1704067200000, "0 24 0 12 00 24 00 12"),
    ("S SSSSSS a", 1700000000123, "123 000123 PM"),
    ("z zzzz Z X XXX", 0, "UTC Coordinated Universal Time +0000 Z Z"),
    ("'it''s %d' {} \\ $1", 0, "it's %d {} \\ $1"),
    ("yyyy", 253402300800000, "10000"),
    ("", 0, ""),
]


def test_texts_are_read_as_java_reads_them(spark: SparkSession) -> None:
    cases = [*READ, *EXTREME]
    found = _evaluated(spark, [read(DatePattern.parse(pattern), F.lit(text)) for pattern, text, _ in cases])
    assert [(*case[:2], ms) for case, ms in zip(cases, found, strict=True)] == cases


def test_times_are_written_as_java_writes_them(spark: SparkSession) -> None:
    instants = [(DatePattern.parse(pattern), F.timestamp_millis(F.lit(ms))) for pattern, ms, _ in WRITTEN]
    found = _evaluated(spark, [written(pattern, instant) for pattern, instant in instants])
    assert [(*case[:2], text) for case, text in zip(WRITTEN, found, strict=True)] == WRITTEN


def _evaluated(spark: SparkSession, columns: list[Column]) -> list[Any]:
    [row] = spark.sql("VALUES (0)").select(*(column.alias(f"c{n}") for n, column in enumerate(columns))).collect()
    return list(row)
