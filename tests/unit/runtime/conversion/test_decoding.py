"""Which shapes a decoder remembers: a plan has columns for each."""

from __future__ import annotations

import json

from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.runtime.conversion.decoding import PartDecoder


def _message(name: str, fields: int = 1) -> bytes:
    schema = {"type": "struct", "fields": [{"type": "int8", "field": f"{name}{n}"} for n in range(fields)]}
    return json.dumps({"schema": schema, "payload": {}}).encode()


def _names(decoder: PartDecoder) -> list[str]:
    return [shape.schema.fields[0].name for shape in decoder.shapes if shape.schema]


def test_the_oldest_ones_are_forgotten_and_learnt_again() -> None:
    decoder = PartDecoder("value", JsonConverter({}, is_key=False))
    for n in range(70):
        decoder.learn([_message(f"f{n}_")])
    assert _names(decoder) == [f"f{n}_0" for n in range(6, 70)]
    decoder.learn([_message("f0_")])
    assert _names(decoder)[-1] == "f0_0"


def test_the_first_of_many_samples_are_learnt() -> None:
    decoder = PartDecoder("value", JsonConverter({}, is_key=False))
    decoder.learn([_message(f"f{n}_") for n in range(100)])
    assert _names(decoder) == [f"f{n}_0" for n in range(64)]


def test_wide_schemas_leave_room_for_few() -> None:
    decoder = PartDecoder("value", JsonConverter({}, is_key=False))
    decoder.learn([_message("a"), _message("wide", 4_990), _message("b"), _message("c", 20)])
    assert _names(decoder) == ["a0", "wide0", "b0"]
    decoder.learn([_message("other", 4_999)])
    assert _names(decoder) == ["other0"]


def test_samples_say_whether_values_are_parsed_where_they_are_read() -> None:
    decoder = PartDecoder("value", JsonConverter({}, is_key=False))
    assert not decoder.parses([])
    usual, other = _message("a"), _message("a").replace(b'"payload": {}', b'"payload": {"a0": 1.0}')
    decoder.learn([usual])
    assert decoder.parses([usual, None]) and not decoder.parses([usual, other])
    decoder.learn([json.dumps({"schema": None, "payload": 1}).encode()])
    assert not decoder.parses([usual])
