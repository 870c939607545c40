"""Previews: the Python call, the command, and what they make of wrong input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from airflow_kconnect import preview
from airflow_kconnect.cli import app
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from tests.support import unique

JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMALESS = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
HOIST = {"transforms": "w", "transforms.w.type": "HoistField$Value", "transforms.w.field": "line"}
LOUDER = """
from airflow_kconnect.sdk import transform

@transform
def louder(record):
    return {"text": record["text"] + "!"}
"""
DROP_TOMBSTONES = {
    "transforms": "drop",
    "transforms.drop.type": "Filter",
    "transforms.drop.predicate": "empty",
    "predicates": "empty",
    "predicates.empty.type": "RecordIsTombstone",
}


def test_answers_are_in_order_and_an_error_has_stage_class_and_message(spark: SparkSession) -> None:
    """A value that is not text is taken as JSON."""
    records: list[dict[str, Any]] = [{"value": "1"}, {"value": None}, {"value": "no json"}, {"value": {"a": 2}}]
    answers = preview({**SCHEMALESS, **DROP_TOMBSTONES}, records)
    assert [answer.get("value") or next(iter(answer)) for answer in answers] == ["1", "dropped", "error", '{"a":2}']
    error = answers[2]["error"]
    assert error["stage"] == "VALUE_CONVERTER"
    assert error["class"] == "org.apache.kafka.connect.errors.DataException"
    assert error["message"].endswith(
        "serialization error: it is not JSON: there is `no` at line 1, column 1, where a value was expected"
    )


def test_a_function_of_a_file_is_previewed_also_if_it_came_later_than_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    preview(SCHEMALESS, [{"value": "1"}])
    file = tmp_path / f"{unique('louder').replace('-', '_')}.py"
    file.write_text(LOUDER)
    registry().add(PluginFile.read(file))
    transformed = {**SCHEMALESS, "transforms": "l", "transforms.l.type": f"{file.stem}.louder"}
    assert preview(transformed, [{"value": '{"text":"a"}'}])[0]["value"] == '{"text":"a!"}'


def test_many_shapes_are_answered_in_order(spark: SparkSession) -> None:
    schemas = [{"type": "struct", "fields": [{"type": "int32", "field": f"f{n}"}], "optional": False} for n in range(6)]
    records = [{"value": {"schema": schema, "payload": {f"f{n}": n}}} for n, schema in enumerate(schemas)]
    answers = preview({"value.converter": JSON}, records)
    assert [json.loads(answer["value"])["payload"] for answer in answers] == [{f"f{n}": n} for n in range(6)]


def test_base64_is_read_as_strictly_as_by_connect(spark: SparkSession) -> None:
    schema = {
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "version": 1,
        "parameters": {"scale": "2"},
    }
    payloads = ["aQ==", "AAAB\nAAAC", "a\nb", "aQ"]
    answers = preview({"value.converter": JSON}, [{"value": {"schema": schema, "payload": text}} for text in payloads])
    assert ["error" in answer for answer in answers] == [False, False, True, True]


def test_other_converters_for_the_answer(spark: SparkSession) -> None:
    output = {"preview.output.value.converter": JSON}
    [answer] = preview({"value.converter": "StringConverter", **HOIST, **output}, [{"value": "a"}])
    assert json.loads(answer["value"])["payload"] == {"line": "a"}


def test_all_errors_of_a_configuration_are_reported() -> None:
    with pytest.raises(ConfigError) as caught:
        preview({"value.converter": "Nope", "transforms": "x", "transforms.x.type": "Nope"}, [])
    assert caught.value.errors.keys() == {"value.converter", "transforms.x.type"}


@pytest.mark.parametrize(
    ("record", "text"),
    [
        pytest.param("x", "record 1 is not an object", id="no object"),
        pytest.param({"partition": "0"}, "`partition` is not an integer", id="partition"),
        pytest.param({"headers": [{"key": "a"}]}, "`headers` is not a list", id="headers"),
    ],
)
def test_a_wrong_record_is_named(record: Any, text: str) -> None:
    with pytest.raises(DataError, match=text):
        preview(SCHEMALESS, [record])


def test_the_command_prints_a_line_per_record(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(
        json.dumps({"name": "x", "config": {"value.converter": "StringConverter", **HOIST}})
    )
    (tmp_path / "r.jsonl").write_text('{"topic":"t","value":"a"}\n{"topic":"t","value":"b"}\n')
    files = ["--config", str(tmp_path / "c.json"), "--input", str(tmp_path / "r.jsonl")]
    done = CliRunner().invoke(app, ["preview", *files])
    assert [json.loads(line)["value"] for line in done.stdout.splitlines()] == ["Struct{line=a}", "Struct{line=b}"]


def test_the_command_prints_configuration_errors_as_json(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"transforms": "x", "transforms.x.type": "Nope"}))
    (tmp_path / "r.jsonl").write_text("")
    files = ["--config", str(tmp_path / "c.json"), "--input", str(tmp_path / "r.jsonl")]
    done = CliRunner().invoke(app, ["preview", *files])
    assert (done.exit_code, list(json.loads(done.stdout))) == (1, ["transforms.x.type"])


class TestOneRecordDoesNotEndTheOthers:
    """Each case next to a good record."""

    def test_a_schema_that_no_struct_can_have(self, spark: SparkSession) -> None:
        """Two fields of one name, half a character in a name."""
        field = '{"type":"int8","field":"a"}'
        values = [
            '{"schema":{"type":"int8","optional":false},"payload":1}',
            f'{{"schema":{{"type":"struct","fields":[{field},{field}]}},"payload":{{"a":1}}}}',
            '{"schema":{"type":"struct","fields":[{"type":"int8","field":"\\ud800"}]},"payload":{"a":1}}',
        ]
        good, twice, half = preview({"value.converter": JSON}, [{"value": value} for value in values])
        assert json.loads(good["value"])["payload"] == 1
        assert "duplication a" in twice["error"]["message"]
        assert "not Unicode" in half["error"]["message"]

    def test_a_default_that_does_not_fit_is_what_jackson_makes_of_it(self, spark: SparkSession) -> None:
        expected = {
            '{"type":"int32","default":"x","field":"a"}': 0,
            '{"type":"int8","default":300,"field":"a"}': 44,
            '{"type":"int32","default":1.7,"field":"a"}': 1,
            '{"type":"boolean","default":"x","field":"a"}': False,
        }
        values = [f'{{"schema":{{"type":"struct","fields":[{field}]}},"payload":{{}}}}' for field in expected]
        answers = preview({"value.converter": JSON}, [{"value": value} for value in values])
        found = [json.loads(answer["value"]) for answer in answers]
        assert [each["payload"]["a"] for each in found] == list(expected.values())
        assert [each["schema"]["fields"][0]["default"] for each in found] == list(expected.values())

    def test_a_header_from_what_is_not_a_struct(self, spark: SparkSession) -> None:
        schema = '{"type":"%s","name":"org.apache.kafka.connect.data.%s","parameters":{"scale":"2"}}'
        insert = {"transforms": "a,b", "transforms.a.type": "InsertField$Value", "transforms.a.topic.field": "s"}
        move = {"transforms.b.type": "HeaderFrom$Value", "transforms.b.fields": "b", "transforms.b.headers": "h"}
        good, *bad = preview(
            {"value.converter": JSON, **insert, **move, "transforms.b.operation": "move"},
            [
                {"value": '{"schema":{"type":"struct","fields":[{"type":"int8","field":"b"}]},"payload":{"b":1}}'},
                {"value": f'{{"schema":{schema % ("bytes", "Decimal")},"payload":"AQ=="}}'},
                {"value": f'{{"schema":{schema % ("int32", "Time")},"payload":1}}'},
            ],
        )
        assert good["headers"]
        assert all("Only Struct objects supported" in answer["error"]["message"] for answer in bad)

    def test_a_header_with_a_map_of_no_common_type(self, spark: SparkSession) -> None:
        maps: list[dict[str, Any]] = [{"a": None}, {"a": "x", "b": 3}, {}]
        *answers, empty = preview(
            {"value.converter": JSON, "preview.output.header.converter": JSON},
            [{"value": None, "headers": [{"key": "h", "value": json.dumps(each)}]} for each in maps],
        )
        schema = {"type": "map", "keys": {"type": "string", "optional": False}, "values": None, "optional": False}
        assert [json.loads(answer["headers"][0]["value"]) for answer in answers] == [
            {"schema": schema, "payload": each} for each in maps[:-1]
        ]
        assert empty["error"]["stage"] == "HEADER_CONVERTER"
