"""RegexRouter; answers are those of Java's Matcher."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.smt.regex_router import RegexRouter

SCOPE = Scope(is_sink=False, header_converter=JsonConverter({}, is_key=False))
# Expression, replacement, topic, new topic.
CASES = [
    (r"(.*)\.(.*)", "$2-$1", "a-b.c.1", "1-a-b.c"),
    ("ord", "x", "orders", "orders"),
    ("a|ab", "x", "ab", "xb"),
    ("(?<n>a+)b*", r"${n}\$$0", "aab", "aa$aab"),
    (r"\Qa.b", "z", "a.b", "z"),
    ("(?x) a b # c", "z", "ab", "z"),
    (r"[\p{L}&&[^a]]+(\d)", "$10", "bc1", "10"),
    ("(a)?b", "[$1]", "b", "[]"),
    ("x*", "y", "xxx", "y"),
    ("(?m)^a$", "x", "a\nb", "a\nb"),
    (".*", "fixed", "any", "fixed"),
]


def _frame(spark: SparkSession, **more: Any) -> RecordFrame:
    rows = spark.createDataFrame([(0, "a"), (1, "b")], "n int, value string")
    rows = rows.withColumn("error", F.lit(None).cast("string"))
    return RecordFrame(rows, value=single(Shape(STRING_SCHEMA), "value"), carried=("n", "error"), **more)


@pytest.mark.parametrize(("regex", "replacement", "topic", "expected"), CASES)
def test_one_topic_for_all_stays_one(
    spark: SparkSession, regex: str, replacement: str, topic: str, expected: str
) -> None:
    frame = _frame(spark, constant_topic=topic)
    router = RegexRouter({"regex": regex, "replacement": replacement})
    routed = router.apply(frame, None, SCOPE)
    assert (routed.topic, routed.constant_topic) == (None, expected)
    assert routed.df is frame.df


def test_some_records_only(spark: SparkSession) -> None:
    frame = _frame(spark, constant_topic="orders")
    routed = RegexRouter({"regex": "(.*)", "replacement": "$1-b"}).apply(frame, frame.df["value"] == "b", SCOPE)
    assert routed.topic is not None
    assert [row[routed.topic] for row in routed.df.sort("n").collect()] == ["orders", "orders-b"]
