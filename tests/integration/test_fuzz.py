"""Random configurations and records, answered as Kafka Connect's own classes answer; `make fuzz` tries many more."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runtime.preview import preview
from airflow_kconnect.stores.offset_topic.records import offset_key, offset_value
from tests.fuzz.comparison import differences
from tests.fuzz.configurations import JSON, SIMPLE, STRING, Case, Config, a_case
from tests.fuzz.listed import family_of
from tests.fuzz.reference import KafkaConnect
from tests.fuzz.values import an_offset

_CONFIGURATIONS = 16
_RECORDS = 40


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaConnect]:
    with KafkaConnect() as connect:
        yield connect


_SCHEMALESS = {f"{part}.converter.schemas.enable": "false" for part in ("key", "value", "header")}
_JSON = {f"{part}.converter": JSON for part in ("key", "value", "header")}
_SIMPLE = _JSON | {"header.converter": SIMPLE}
_REPLACE = {"transforms": "r", "transforms.r.type": "org.apache.kafka.connect.transforms.ReplaceField$Value"}
_JSON_OF_SIMPLE = _SIMPLE | {"preview.output.header.converter": JSON}
_TEXT_OF_SIMPLE = _SIMPLE | {"preview.output.header.converter": STRING}
_TEXT = _JSON | {"preview.output.value.converter": STRING}
_CAST = {
    "transforms": "c",
    "transforms.c.type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms.c.spec": "boolean",
}
_TIMESTAMP = '{"schema":{"type":"int64","name":"org.apache.kafka.connect.data.Timestamp"},"payload":1}'
_NUMBERS = {
    "value.converter": "org.apache.kafka.connect.converters.ShortConverter",
    "preview.output.value.converter": "org.apache.kafka.connect.converters.BooleanConverter",
}
_HOIST = {"transforms": "h", "transforms.h.type": "org.apache.kafka.connect.transforms.HoistField$Value"}
_RENAME = {"transforms.r.exclude": "a", "transforms.r.renames": "a:d"}
_A_AND_D = """{"schema":{"type":"struct","fields":[{"type":"int8","optional":true,"field":"a"},
{"type":"string","optional":true,"field":"d"}]},"payload":{"a":%s,"d":"x"}}"""
_TO_KEY = _JSON | {
    "transforms": "k",
    "transforms.k.type": "org.apache.kafka.connect.transforms.ValueToKey",
    "transforms.k.field.syntax.version": "V2",
}
_PATHS = {"transforms.k.fields": "a.`c.d`,a.b"}
_OPTIONAL = {"transforms.k.fields": "a.`c.d`"}
_NESTED = """{"schema":{"type":"struct","fields":[{"type":"struct","optional":true,"field":"a","fields":[
{"type":"string","default":"D","field":"b"},{"type":"int8","optional":true,"field":"c.d"}]}]},"payload":{"a":%s}}"""
_FLOATS = """{"schema":{"type":"struct","fields":[{"type":"array","items":{"type":"double"},"field":"a"},
{"type":"float","field":"b"},{"type":"double","default":-0.0,"field":"c"}]},"payload":{"a":[-0.0,1.0],"b":-0.0}}"""


_UTF8_IN_A_MAP = (
    '{"schema":{"type":"map","keys":{"type":"string"},"values":{"type":"string"}},"payload":{"a":"\udcff"}}'
)
_HARD: dict[str, tuple[Config, str | None, str | None]] = {
    "fractions of zero": (_JSON | _SCHEMALESS, '{"a":1.0,"b":[100.0,"1.0, 2.5"],"1.0":1.5e3}', "1.0"),
    "negative zeros": (_JSON | _SCHEMALESS, '[-0.0,0.0,-0.5,"-0.0",-0.00e3,{"-0.0":-1.0}]', "-0.0"),
    "exponents": (_JSON | _SCHEMALESS, "[123456789.125,0.000999,1.0000000000000000000001]", None),
    "quotes and numbers in a string that is none": (_JSON | _SCHEMALESS, '"\\"1.0"', None),
    "no schema in an envelope": (_JSON, '{"schema":null,"payload":{"a":1.0,"b":[-0.0]}}', None),
    "negative zeros with a schema": (_JSON, _FLOATS, None),
    "invalid UTF-8 without schema": (_JSON | _SCHEMALESS, '"\udcff"', None),
    "invalid UTF-8 in a string": (_JSON, '{"schema":{"type":"string"},"payload":"\udcff"}', None),
    "invalid UTF-8 in a map": (_JSON, _UTF8_IN_A_MAP, None),
    "numbers in lists in a header": (_SIMPLE, None, "[[1],[1.5]]"),
    "numbers in maps in a header": (_SIMPLE, None, '{"a":{"b":1},"c":{"d":1.5}}'),
    "lists of numbers and of fractions in a header": (_JSON_OF_SIMPLE, None, "[[1],[1.5]]"),
    "the text of lists of numbers in a header": (_TEXT_OF_SIMPLE, None, "[[1],[1.5]]"),
    "the text of escapes": (_TEXT | _SCHEMALESS, '{"d":"a\\nb\\t\\\\n\\"x"}', None),
    "a boolean by the name of a Timestamp": (_JSON | _CAST, _TIMESTAMP, None),
    "null under another field's name": (_SIMPLE | _REPLACE | _RENAME, _A_AND_D % "null", None),
    "a number under a string's name": (_SIMPLE | _REPLACE | _RENAME, _A_AND_D % "1", None),
    "a field without name": (_SIMPLE | _HOIST | {"transforms.h.field": ""}, _A_AND_D % "1", None),
    "a wrong schema": (_JSON | _SCHEMALESS | {"value.converter.schema.content": "x"}, None, None),
    "paths to fields of a struct": (_TO_KEY | _PATHS, _NESTED % '{"b":"x","c.d":1}', None),
    "paths to fields of a struct that is null": (_TO_KEY | _PATHS, _NESTED % "null", None),
    "a path to an optional field of null": (_TO_KEY | _OPTIONAL, _NESTED % "null", None),
    "a path with one backtick": (_TO_KEY | {"transforms.k.fields": "`a"}, _NESTED % "null", None),
    "null of another type than boolean": (_JSON | _NUMBERS, None, None),
}
"""Configuration, value and header."""


def test_hard_records(spark: SparkSession, kafka: KafkaConnect) -> None:
    """Those of a configuration are answered at once."""
    cases: dict[str, Case] = {}
    for config, value, header in _HARD.values():
        headers = [] if header is None else [{"key": "h", "value": header}]
        case = cases.setdefault(str(config), Case("", config, []))
        case.records.append(
            {"topic": "t", "partition": 0, "timestamp": 1, "key": None, "value": value, "headers": headers}
        )
    assert not [found.text() for case in cases.values() for found in differences(case, kafka)]


def test_null_as_a_key_of_a_map_is_an_error(spark: SparkSession) -> None:
    schema = '{"type":"map","keys":{"type":"int8","optional":true},"values":{"type":"int8"}}'
    records = [{"value": f'{{"schema":{schema},"payload":{payload}}}'} for payload in ("[[null,1],[3,2]]", "[[3,2]]")]
    refused, taken = preview(_JSON, records)
    assert "null as a key" in refused["error"]["message"]
    assert taken["value"].endswith('"payload":[[3,2]]}')


@pytest.mark.exhaustive
def test_records_and_configurations(spark: SparkSession, kafka: KafkaConnect) -> None:
    cases = [a_case(f"ci/{number}", _RECORDS) for number in range(_CONFIGURATIONS)]
    found = [difference for case in cases for difference in differences(case, kafka)]
    assert not [difference.text() for difference in found if family_of(difference) is None]


@pytest.mark.exhaustive
def test_records_as_people_rarely_write_them(spark: SparkSession, kafka: KafkaConnect) -> None:
    cases = [a_case(f"ci/{number}", _RECORDS, odd=True) for number in range(_CONFIGURATIONS)]
    found = [difference for case in cases for difference in differences(case, kafka)]
    assert not [difference.text() for difference in found if family_of(difference) is None]


def test_bytes_in_the_offset_topic(kafka: KafkaConnect) -> None:
    rng = Random("offsets")
    given = [(rng.choice(("files", "größe", "😀")), an_offset(rng), an_offset(rng)) for _ in range(5_000)]
    ours = [(offset_key(name, partition), offset_value(offset)) for name, partition, offset in given]
    assert ours == kafka.offsets(given)
