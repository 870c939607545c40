"""What is encoded column by column are the bytes that Protobuf's library writes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.protobuf.batches import ProtobufEncoder
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.types import arrow_type
from tests.unit.converters.protobuf.corpus import FIRST, registered

KINDS = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), st.integers(-(2**31), 2**31 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), st.integers(0, 2**32 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64", "uint64", "fixed64"), st.integers(-(2**63), 2**63 - 1)),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "string": st.text(max_size=5),
    "bytes": st.binary(max_size=200),
    "E": st.sampled_from("ABC"),
}
MONEY = (
    "confluent.type.Decimal money = {} [(confluent.field_meta) = {{params: ["
    '{{key: "scale", value: "2"}}, {{key: "precision", value: "20"}}]}}];'
)


def _message() -> str:
    """Plain, optional and repeated fields of all kinds, not in the order of their numbers."""
    lines = []
    for index, kind in enumerate(KINDS):
        lines += [f"{kind} a{index} = {400 - index};", f"optional {kind} b{index} = {index + 1};"]
        lines.append(f"repeated {kind} c{index} = {index + 100};")
    inner = "optional I inner = 500; repeated I inners = 50;"
    times = "google.protobuf.Timestamp at = 501; google.type.Date day = 502; google.type.TimeOfDay time = 503;"
    return "\n".join(["message M {", *lines, inner, times, MONEY.format(504), "}"])


SCHEMA = registered(
    f"""
    import 'google/protobuf/timestamp.proto'; import 'google/type/date.proto'; import 'google/type/timeofday.proto';
    import 'confluent/meta.proto'; import 'confluent/type/decimal.proto';
    {_message()}
    message I {{ int32 n = 1; repeated string s = 2; }}
    enum E {{ A = 0; B = -1; C = 7; }}
    """
)
FORMAT = ProtobufFormat({})
SHAPE = FORMAT.shape_of(SCHEMA, FIRST).schema
assert SHAPE is not None
INNER = st.fixed_dictionaries({"n": KINDS["int32"], "s": st.lists(KINDS["string"], max_size=3)})


def _values() -> dict[str, st.SearchStrategy[Any]]:
    strategies: dict[str, st.SearchStrategy[Any]] = {}
    for index, values in enumerate(KINDS.values()):
        strategies |= {f"a{index}": values, f"b{index}": st.none() | values, f"c{index}": st.lists(values, max_size=3)}
    return strategies | {
        "inner": st.none() | INNER,
        "inners": st.lists(INNER, max_size=3),
        "at": st.none() | st.datetimes(),
        "day": st.none() | st.dates(),
        "time": st.none() | st.integers(0, 86_399_999),
        "money": st.none() | st.decimals(-(10**18), 10**18, places=2),
    }


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    """Some of the fields; the others are null."""
    values = _values()
    names = draw(st.sets(st.sampled_from(sorted(values)), max_size=6))
    return {name: draw(values[name]) for name in names}


def _encoder() -> ProtobufEncoder:
    encoder = FORMAT.encoder(SCHEMA, Shape(SHAPE))
    assert isinstance(encoder, ProtobufEncoder)
    return encoder


@given(st.lists(parts(), min_size=1, max_size=4))
def test_any_data(rows: list[dict[str, Any]]) -> None:
    encoder = _encoder()
    data = pa.array([{}, *rows], arrow_type(SHAPE))[1:]
    in_columns = encoder._in_columns(data)
    expected, errors = encoder._one_by_one(data)
    assert errors is None
    assert in_columns is not None
    assert in_columns.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("row", [{"time": -1}, {"c15": ["A", None]}, {"a15": "no such name"}])
def test_what_may_be_bad_is_left_to_the_library(row: dict[str, Any]) -> None:
    data = pa.array([row], arrow_type(SHAPE))
    assert _encoder()._in_columns(data) is None


@pytest.mark.parametrize("value", ["0.00", "-0.01", "0.10", "99.99", "-123456789012345678.90"])
def test_the_precision_of_a_decimal_is_its_number_of_digits(value: str) -> None:
    data = pa.array([{"money": Decimal(value)}], arrow_type(SHAPE))
    assert _encoder()._in_columns(data) == _encoder()._one_by_one(data)[0]


def test_no_rows() -> None:
    assert len(_encoder().encode(pa.array([], arrow_type(SHAPE)))[0]) == 0
