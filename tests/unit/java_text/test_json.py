"""Canonical JSON: the bytes of Connect's JsonConverter without schemas."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.java_text.json import canonical_json, partition_identity

FLAT = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    max_size=4,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": 1, "a": 2}, '{"b":1,"a":2}', id="members keep their order"),
        pytest.param(["c", {"f": "/a b"}], '["c",{"f":"/a b"}]', id="no white space between tokens"),
        pytest.param("é漢", '"é漢"', id="letters beyond ASCII as they are"),
        pytest.param('"\\/', '"\\"\\\\/"', id="quote and backslash are escaped, slash is not"),
        pytest.param("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"', id="short escapes"),
        pytest.param("\x7f", '"\x7f"', id="DEL as it is"),
        pytest.param([None, True, False], "[null,true,false]", id="null and booleans"),
        pytest.param(2**63 - 1, "9223372036854775807", id="longest long"),
        pytest.param([1.0, 0.5, 100000.0], "[1.0,0.5,100000.0]", id="plain doubles"),
    ],
)
def test_text(value: Any, text: str) -> None:
    assert canonical_json(value) == text


def test_characters_beyond_the_bmp_are_escaped_as_jackson_does() -> None:
    assert canonical_json("é😀") == '"é\\uD83D\\uDE00"'


def test_control_characters_are_escaped_with_upper_case_digits() -> None:
    assert canonical_json("\x1f") == '"\\u001F"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.5, "1.23456785E7"),
        (1e20, "1.0E20"),
        (-1e-7, "-1.0E-7"),
        (5e-324, "5.0E-324"),
    ],
    ids=str,
)
def test_doubles_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
def test_numbers_that_json_does_not_have_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        canonical_json({"x": value})


@pytest.mark.parametrize("value", [b"x", {1}, object], ids=["bytes", "set", "class"])
def test_types_that_json_does_not_have_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__} cannot be written as JSON"):
        canonical_json({"x": value})


@given(FLAT)
def test_nothing_is_lost(value: dict[str, Any]) -> None:
    assert json.loads(canonical_json(value)) == value


@given(FLAT)
def test_identity_does_not_depend_on_the_order_of_members(partition: dict[str, Any]) -> None:
    assert partition_identity(partition) == partition_identity(dict(reversed(partition.items())))


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 1}, {"a": "1"}), ({"a": 1}, {"a": True}), ({"a": None}, {}), ({"a": 1}, {"A": 1})],
    ids=["number and text", "number and boolean", "null and absent", "case"],
)
def test_different_partitions_have_different_identities(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert partition_identity(one) != partition_identity(other)
