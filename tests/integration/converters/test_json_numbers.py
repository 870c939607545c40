"""What parsers of JSON differ in: numbers that strict ones refuse, halves of characters; errors of payloads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_kconnect.converters.json.converter import JsonConverter
from tests.integration.converters.conftest import Through

_PLAIN = JsonConverter({"schemas.enable": "false"}, is_key=False)
_BOTH: dict[str, Any] = {"type": "struct", "optional": False, "fields": [
    {"field": "a", "type": "int32", "optional": True}, {"field": "b", "type": "double", "optional": True},
]}  # fmt: skip
_DECIMAL = {
    "type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "version": 1, "parameters": {"scale": "1"},
}  # fmt: skip
_PAIRS = {"type": "map", "keys": {"type": "int32"}, "values": {"type": "int64"}}


def _envelope(schema: Any, payload: str) -> bytes:
    return f'{{"schema":{schema if isinstance(schema, str) else json.dumps(schema)},"payload":{payload}}}'.encode()


def test_leading_zeros_are_skipped_without_schema(through: Through) -> None:
    messages = [b'{"a":01}', b'{"a":-007}', b'{"a":00.5}', b"[08]", b"007", b'{"a":"007","b":[1e05,1.050,100,00]}']
    answers = through(_PLAIN, _PLAIN, messages)
    assert [answer.output for answer in answers] == [
        b'{"a":1}', b'{"a":-7}', b'{"a":0.5}', b"[8]", b"7", b'{"a":"007","b":[100000.0,1.05,100,0]}',
    ]  # fmt: skip


@pytest.mark.parametrize("neighbour", [[], [_envelope(_BOTH, '{"a":1,"b":1}')]], ids=["alone", "after a good one"])
def test_numbers_of_a_schema_are_read_as_what_they_are(through: Through, neighbour: list[bytes]) -> None:
    zeros_in_schema = json.dumps({"type": "struct", "optional": False, "fields": [], "version": 7})
    payloads = ['{"a":007,"b":-00.5}', '{"a":1.0,"b":2.50}', '{"a":1e2,"b":1e2}', '{"a":-0.0,"b":0}']
    messages = [
        *neighbour,
        *(_envelope(_BOTH, payload) for payload in payloads),
        _envelope(zeros_in_schema.replace("7", "007"), "{}"),
        _envelope('{"type":"string"}', "007"),
        _envelope({"type": "int8"}, "1.0"),
        _envelope(_PAIRS, "[[1.0,1e2]]"),
        _envelope(None, "[007]"),
    ]
    answers = through(JsonConverter({}, is_key=False), _PLAIN, messages)[len(neighbour) :]
    assert [(answer.error, answer.output) for answer in answers] == [
        (None, b'{"a":7,"b":-0.5}'),
        (None, b'{"a":1,"b":2.5}'),
        (None, b'{"a":100,"b":100.0}'),
        (None, b'{"a":0,"b":0.0}'),
        (None, b"{}"),
        (None, b'"7"'),
        (None, b"1"),
        (None, b"[[1,100]]"),
        (None, b"[7]"),
    ]


def test_a_configured_schema_reads_them_too(through: Through) -> None:
    reader = JsonConverter({"schema.content": json.dumps(_BOTH)}, is_key=False)
    assert [answer.output for answer in through(reader, _PLAIN, [b'{"a":1e2,"b":007}'])] == [b'{"a":100,"b":7.0}']


def test_errors_say_what_does_not_fit_and_where(through: Through) -> None:
    nested = {"type": "struct", "optional": True, "fields": [
        {"field": "x", "type": "int32", "optional": False}, {"field": "d", **_DECIMAL, "optional": True},
    ]}  # fmt: skip
    outer = {"type": "struct", "optional": False, "fields": [{"field": "in", **nested}, *_BOTH["fields"]]}
    payloads = [
        '{"a":1.7,"b":"x"}',
        '{"a":1',
        '{"in":{"x":null}}',
        '{"in":{"x":1,"d":"?"}}',
        '{"in":{"x":1,"d":1.25}}',
        '{"in":{"x":1,"d":"' + "f" * 32 + '"}}',
    ]
    answers = through(JsonConverter({}, is_key=False), _PLAIN, [_envelope(outer, payload) for payload in payloads])
    failed = "Converting byte[] to Kafka Connect data failed due to serialization error: "
    assert [answer.error for answer in answers] == [
        f"{failed}it does not fit its schema, see a, b",
        f"{failed}it is not JSON in UTF-8",
        "Invalid null value for required INT32 field: in.x",
        "Invalid bytes for Decimal field: in.d",
        "Decimal has more than 38 digits, or more of them after the point than its scale of 1: in.d",
        "Decimal has more than 38 digits: in.d",
    ]


_HALVES = [rb'"\ud800"', rb'{"a":"x\uDC00y"}', rb'{"\ud800":1}', rb'"\ud83d\ud83d\ude00"', rb'"\ud83d\ude00\ude00"',
           rb'"\\\ud800"', rb'"\\ud83d\ude00"']  # fmt: skip
_WHOLE = [rb'"\ud83d\uDE00"', rb'"\\ud800"', rb'{"a":"\\\\ud800"}']


@pytest.mark.parametrize("schemas", ["true", "false"])
def test_half_of_a_character_makes_a_bad_record_with_each_version_of_spark(through: Through, schemas: str) -> None:
    converter = JsonConverter({"schemas.enable": schemas}, is_key=False)
    messages = [*_HALVES, *_WHOLE] if schemas == "false" else [_envelope(None, m.decode()) for m in [*_HALVES, *_WHOLE]]
    answers = through(converter, _PLAIN, messages)
    assert [answer.error is None for answer in answers] == [False] * len(_HALVES) + [True] * len(_WHOLE)
