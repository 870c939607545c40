"""Schemaless JSON in batches: what is certain is as VARIANT prints it, everything else is left alone."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.converters.json.texts import SchemalessParser

_LONG = st.integers(-(10**18) + 1, 10**18 - 1)
_TEXT = st.text(st.characters(codec="utf-8", min_codepoint=0x20), max_size=8)
_SCALAR = st.none() | st.booleans() | _LONG | _TEXT
_NAME = st.text(st.characters(codec="utf-8", min_codepoint=0x20, exclude_characters='"\\'), max_size=5)
_OBJECT = st.dictionaries(_NAME, _SCALAR | st.lists(_SCALAR, max_size=3), max_size=6)


def _parsed(*messages: bytes | str | None) -> list[Any]:
    column = pa.array([b"before", *(m.encode() if isinstance(m, str) else m for m in messages)], pa.binary())
    texts: list[Any] = SchemalessParser().parse(column.slice(1)).to_pylist()
    return texts


def _sorted(value: Any) -> str:
    """Members in the order of Java's strings."""
    if isinstance(value, dict):
        value = {name: value[name] for name in sorted(value, key=lambda name: name.encode("utf-16-be"))}
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@given(st.lists(_OBJECT | _SCALAR, min_size=1, max_size=5), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_members_are_in_order_and_values_as_they_were(values: list[Any], separators: tuple[str, str]) -> None:
    messages = [json.dumps(value, separators=separators, ensure_ascii=False) for value in values]
    assert _parsed(*messages) == list(map(_sorted, values))


@given(st.lists(st.floats(1e-3, 1e7, exclude_max=True) | st.floats(-1e6, -1.0), min_size=1, max_size=5))
def test_doubles_with_all_their_digits_are_as_they_were(numbers: list[float]) -> None:
    messages = [f'{{"b":{number!r},"a":"{number!r}"}}' for number in numbers]
    assert _parsed(*messages) == [f'{{"a":"{number!r}","b":{number!r}}}' for number in numbers]


def test_null_messages_stay_null() -> None:
    assert _parsed(None, '{"b":1,"a":2}', None) == [None, '{"a":2,"b":1}', None]
    assert _parsed(None) == [None]


def test_messages_may_differ() -> None:
    assert _parsed("{}", '{"b":1,"a":2}', '{"c":[]}', '"x"', "null", "1") == [
        "{}", '{"a":2,"b":1}', '{"c":[]}', '"x"', "null", "1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [
        "", " ", "{", "}", "{}{}", "{}}", '{"a":1', '{"a":1,}', '{"a" 1}', '{"a":}', "{a:1}", "[1,]", "[[1]]", "nul",
        '"a', 'a"', '"a"b"', '"a" "b"', '"\\', '"\\x"', '"\\/"', '"\\u00e9"', '"a\nb"', '{"a":\n1}', '{"a":\t1}',
        '{"a":1,"a":2}', '{"a":1, "b":2, "a":3}', '{"a":{"b":1}}', '{"a\\n":1}', "01", "-0", "+1", "1e2", "1.0",
        '{"a":1.50}', '{"a":-0.0}', '{"a":0.0001}', '{"a":12345678.5}', '{"a":1e2}', '{"a":1E400}', '{"a":.5}',
        '{"a":1234567890123456789}', '{"a":NaN}', b"\xff", b'"\xff"', b'"\xed\xa0\x80"', b"\xef\xbb\xbf1",
    ],
)  # fmt: skip
def test_a_batch_with_anything_unusual_is_left_alone(message: bytes | str) -> None:
    assert _parsed('{"b":1,"a":2}', message) == [None, None]


def test_a_text_does_not_reach_into_the_next_message() -> None:
    assert _parsed('"a', 'b"') == [None, None]
    assert _parsed('{"a":"b', 'c":"d"}') == [None, None]
