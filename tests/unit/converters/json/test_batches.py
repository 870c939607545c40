"""Batches of JsonConverter's messages: what Arrow parses must be what JSON says, everything else is left alone."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import DECIMAL, TIME, ConnectSchema, SchemaType, struct
from airflow_kconnect.converters.json.batches import PayloadParser, parser_of
from airflow_kconnect.converters.json.envelopes import Pattern

PATTERN = Pattern(b'{"schema":0,"payload":')
SCHEMA = struct(
    ("id", ConnectSchema(SchemaType.INT64)),
    ("small", ConnectSchema(SchemaType.INT8, optional=True)),
    ("name", ConnectSchema(SchemaType.STRING, optional=True)),
    ("active", ConnectSchema(SchemaType.BOOLEAN, optional=True)),
    ("amount", ConnectSchema(SchemaType.BYTES, optional=True, name=DECIMAL, parameters={"scale": "2"})),
)
NOTHING = {"id": None, "small": None, "name": None, "active": None, "amount": None}


def parser() -> PayloadParser:
    of_schema = parser_of(SCHEMA, [PATTERN])
    assert of_schema is not None
    return of_schema


def message(payload: Any) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return PATTERN.prefix + text.encode() + PATTERN.suffix


def parsed(*messages: bytes | None) -> list[Any]:
    values: list[Any] = parser().parse(pa.array(messages, pa.binary())).to_pylist()
    return values


def test_no_zero_is_negative() -> None:
    of_schema = parser_of(struct(("amount", ConnectSchema(SchemaType.FLOAT64))), [PATTERN])
    assert of_schema is not None
    amounts = of_schema.parse(pa.array([message('{"amount":-0.0}')], pa.binary())).to_pylist()
    assert str(amounts[0]["amount"]) == "0.0"


def test_times_are_within_a_day() -> None:
    of_schema = parser_of(struct(("at", ConnectSchema(SchemaType.INT32, name=TIME))), [PATTERN])
    assert of_schema is not None
    for number, expected in ((0, {"at": 0}), (86_399_999, {"at": 86_399_999}), (86_400_000, None), (-1, None)):
        assert of_schema.parse(pa.array([message({"at": number})], pa.binary())).to_pylist() == [expected]


def decimal(unscaled: int) -> str:
    size = max(unscaled, ~unscaled).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()


LONGS = st.integers(-(2**63), 2**63 - 1)
PAYLOADS = st.fixed_dictionaries(
    {
        "id": LONGS,
        "small": st.none() | st.integers(-128, 127),
        "name": st.none() | st.text(st.characters(codec="utf-8")),
        "active": st.none() | st.booleans(),
        "amount": st.none() | LONGS.map(decimal),
    }
)


@given(st.lists(PAYLOADS, min_size=1, max_size=5))
def test_payloads_are_read_as_json_has_them(payloads: list[dict[str, Any]]) -> None:
    expected = []
    for payload in payloads:
        data = payload["amount"] and base64.b64decode(payload["amount"])
        amount = None if data is None else Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-2)
        expected.append({**payload, "amount": amount})
    assert parsed(*map(message, payloads)) == expected


def test_other_messages_are_left_alone_in_their_places() -> None:
    others = [None, b"", b"{}", message("null"), message([1])]
    assert parsed(others[0], message({"id": 1}), *others[1:], message({"id": 2})) == [
        None, {**NOTHING, "id": 1}, None, None, None, None, {**NOTHING, "id": 2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "payload",
    [
        '{"id":1.5}',
        '{"id":"1"}',
        '{"id":9223372036854775808}',
        '{"small":128}',
        '{"name":5}',
        '{"name":"\\ud800"}',
        '{"active":1}',
        '{"amount":1.5}',
        '{"amount":"%%%%"}',
        '{"amount":""}',
        '{"amount":"AQEBAQEBAQEB"}',
        '{"id":1,"id":2}',
        '{"id":1},"more":{}',
        '{"id":1}{"id":2}',
        '{"id":\n1}',
        '{"id":NaN}',
        '{"id":1,"more":[1,-Infinity]}',
    ],
)
def test_a_batch_with_anything_unusual_is_left_alone(payload: str) -> None:
    assert parsed(message({"id": 7}), message(payload)) == [None, None]


def test_bytes_that_are_not_text_are_left_alone() -> None:
    assert parsed(message({"id": 7}).replace(b"7}", b'7,"name":"\xff"}')) == [None]


def test_fields_that_the_schema_lacks_are_skipped() -> None:
    assert parsed(message({"id": 1, "more": {"x": []}})) == [{**NOTHING, "id": 1}]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        ConnectSchema(SchemaType.INT32),
        struct(("f", ConnectSchema(SchemaType.FLOAT32))),
        struct(("f", ConnectSchema(SchemaType.BYTES))),
        struct(("f", struct(("g", ConnectSchema(SchemaType.INT32))))),
    ],
)
def test_there_is_no_parser_for(schema: ConnectSchema | None) -> None:
    assert parser_of(schema, [PATTERN]) is None


def strings(*payloads: str) -> list[Any]:
    of_schema = parser_of(ConnectSchema(SchemaType.STRING), [PATTERN])
    assert of_schema is not None
    answers: list[Any] = of_schema.parse(pa.array(list(map(message, payloads)), pa.binary())).to_pylist()
    return answers


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5), st.booleans())
def test_strings_are_read_as_json_has_them(texts: list[str], ascii_only: bool) -> None:
    assert strings(*(json.dumps(text, ensure_ascii=ascii_only) for text in texts)) == texts


@pytest.mark.parametrize(
    "payload",
    [
        '"a","s":"b"',
        '"a","t":"b"',
        '"a"}{"s":"b"',
        '"a"b"',
        '"a\\"',
        '"""',
        '"a\nb"',
        '"a\tb"',
        '"\\ud800"',
        '"\\x"',
        '"',
    ],
)
def test_a_batch_with_what_is_not_a_string_is_left_alone(payload: str) -> None:
    assert strings('"good"', payload) == [None, None]


@given(st.lists(st.text('"\\\\ab', max_size=4), min_size=1, max_size=4))
def test_what_is_in_quotes_is_read_as_json_or_left_alone(insides: list[str]) -> None:
    payloads = [f'"{inside}"' for inside in insides]
    try:
        expected = [json.loads(payload) for payload in payloads]
    except ValueError:
        expected = [None] * len(payloads)
    assert strings(*payloads) in (expected, [None] * len(payloads))


def test_payloads_of_other_types_are_left_alone_in_their_places() -> None:
    assert strings('"a"', "5", "null", '"b"') == ["a", None, None, "b"]
