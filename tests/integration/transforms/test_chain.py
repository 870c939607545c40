"""Chains: errors of predicates and of configurations name the stage that the user has configured."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect import preview
from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain

SQL_PREDICATE = "airflow_kconnect.transforms.predicates.SQL"
SOURCE = Scope(is_sink=False, header_converter=SimpleHeaderConverter({}, is_key=False))
SCHEMALESS = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}


def chain(condition: str, **more: str) -> dict[str, str]:
    """A filter for what the condition is true for, and behind it a field for the others."""
    return {
        **SCHEMALESS,
        "transforms": "drop,add",
        "transforms.drop.type": "Filter",
        "transforms.drop.predicate": "when",
        "transforms.add.type": "InsertField$Value",
        "transforms.add.static.field": "x",
        "transforms.add.static.value": "1",
        "predicates": "when",
        "predicates.when.type": SQL_PREDICATE,
        "predicates.when.condition": condition,
        **more,
    }


RECORDS: list[dict[str, Any]] = [{"value": value} for value in ('{"n":2}', '{"n":0}', '{"n":20}', '{"m":1}', None)]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("negate", "expected"),
    [
        ("false", ["dropped", "failed", '{"n":20,"x":"1"}', '{"m":1,"x":"1"}', None]),
        ("true", ['{"n":2,"x":"1"}', "failed", "dropped", "dropped", "dropped"]),
    ],
)
def test_a_predicate_that_fails_makes_a_bad_record(negate: str, expected: list[str | None]) -> None:
    answers = preview(chain("10 / value.n::int > 1", **{"transforms.drop.negate": negate}), RECORDS)
    shown = ["dropped" if "dropped" in a else "failed" if "error" in a else a["value"] for a in answers]
    assert shown == expected
    assert answers[1]["error"] == {
        "stage": "TRANSFORMATION",
        "class": "org.apache.kafka.connect.errors.DataException",
        "message": "Predicate when fails: 10 / value.n::int > 1",
    }


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        pytest.param({"predicates.when.condition": "valuee.n > 1"}, "predicates.when.condition", id="predicate"),
        pytest.param({"predicates.when.condition": "value.n::int"}, "predicates.when.condition", id="no condition"),
        pytest.param(
            {"transforms.add.type": "airflow_kconnect.transforms.SQL", "transforms.add.value": "no_such_function(1)"},
            "transforms.add.value",
            id="transformation",
        ),
    ],
)
def test_errors_that_only_spark_finds_have_the_users_keys(keys: dict[str, str], wrong: str) -> None:
    with pytest.raises(ConfigError) as caught:
        preview(chain("true", **keys), RECORDS)
    assert list(caught.value.errors) == [wrong]


@pytest.mark.parametrize(
    ("replacement", "text"),
    [("", "the empty string is not allowed"), ("a b", "'a b' contains"), ("__consumer_offsets", "Kafka's own")],
)
def test_a_topic_that_cannot_be_names_the_transformation(spark: SparkSession, replacement: str, text: str) -> None:
    props = {"transforms": "route", "transforms.route.type": "RegexRouter", "transforms.route.regex": ".*"}
    with pytest.raises(ConfigError, match=text) as caught:
        Chain.from_props({**props, "transforms.route.replacement": replacement}).apply(
            _source_frame(spark, "t"), SOURCE
        )
    assert list(caught.value.errors) == ["transforms.route"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("pattern", "dropped"),
    [("a+-", True), ("a+", False), (r"\p{L}+[\w&&[^a]]*-", True)],
)
def test_the_one_topic_of_a_source_is_matched_beforehand(spark: SparkSession, pattern: str, dropped: bool) -> None:
    drop = {"transforms": "drop", "transforms.drop.type": "Filter", "transforms.drop.predicate": "named"}
    named = {"predicates.named.type": "TopicNameMatches", "predicates.named.pattern": pattern}
    frame = _source_frame(spark, "a" * 200 + "-")
    (row,) = Chain.from_props({**drop, **named}).apply(frame, SOURCE).df.select("error").collect()
    assert (row.error == DROPPED) is dropped


def _source_frame(spark: SparkSession, topic: str) -> RecordFrame:
    """One record that goes to a topic."""
    df = spark.range(1).select(F.lit("v").alias("value_0"), F.lit(None).cast("string").alias("error"))
    return RecordFrame(df, single(Shape(STRING_SCHEMA), "value_0"), constant_topic=topic, carried=("error",))
