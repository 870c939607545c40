"""InsertHeader beyond the golden cases: records without headers, other converters of headers, converted headers."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runtime.preview import preview

JSON = "org.apache.kafka.connect.json.JsonConverter"
INSERT = {
    "value.converter": "StringConverter",
    "transforms": "it",
    "transforms.it.type": "InsertHeader",
    "transforms.it.header": "new",
}


def headers(answer: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(header["key"], header["value"]) for header in answer["headers"]]


@pytest.mark.parametrize(
    ("literal", "text"),
    [("007", "7"), ('{"a" : [1, 2]}', '{"a":[1,2]}'), ("null", None)],
    ids=["number", "map", "null"],
)
def test_the_default_converter_writes_typed_text(spark: SparkSession, literal: str, text: str | None) -> None:
    old = [{"key": "old", "value": '"x"'}]
    answers = preview(
        INSERT | {"transforms.it.value.literal": literal}, [{"value": "a"}, {"value": "b", "headers": old}]
    )
    assert list(map(headers, answers)) == [[("new", text)], [("old", '"x"'), ("new", text)]]


def test_what_the_header_converter_cannot_write_is_an_error(spark: SparkSession) -> None:
    config = INSERT | {"transforms.it.value.literal": "x", "header.converter": "LongConverter"}
    [answer] = preview(config, [{"value": "a"}])
    assert answer["error"] == {
        "stage": "TRANSFORMATION",
        "class": "org.apache.kafka.connect.errors.DataException",
        "message": "Failed to serialize to long (was STRING)",
    }


def test_headers_are_converted_before_transformations_and_after_values(spark: SparkSession) -> None:
    config = INSERT | {"transforms.it.value.literal": "1", "value.converter": JSON, "header.converter": JSON}
    config |= {"value.converter.schemas.enable": "false"}
    config |= {"preview.output.header.converter": "SimpleHeaderConverter"}
    good = {"key": "h", "value": '{"schema":{"type":"array","items":{"type":"int32"}},"payload":[1,2]}'}
    bad = {"key": "h", "value": "[1,2]"}
    both, wrong_header, wrong_value = preview(
        config,
        [
            {"value": "1", "headers": [good, good]},
            {"value": "1", "headers": [good, bad]},
            {"value": "{", "headers": [bad]},
        ],
    )
    assert headers(both) == [("h", "[1,2]"), ("h", "[1,2]"), ("new", "1")]
    assert wrong_header["error"]["stage"] == "HEADER_CONVERTER"
    assert 'requires "schema" and "payload"' in wrong_header["error"]["message"]
    assert wrong_value["error"]["stage"] == "VALUE_CONVERTER"
