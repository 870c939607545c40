"""What is decoded column by column is what is read from the messages of Protobuf's library."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.converters.protobuf.batches import ProtobufDecoder
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from tests.unit.converters.protobuf.corpus import FIRST, message_of, registered
from tests.unit.converters.protobuf.test_encode_columns import KINDS, MONEY

IMPORTS = """
import 'google/protobuf/timestamp.proto'; import 'google/type/date.proto'; import 'google/type/timeofday.proto';
import 'google/protobuf/wrappers.proto'; import 'confluent/meta.proto'; import 'confluent/type/decimal.proto';
"""
MESSAGES = """
message I { int32 n = 1; optional string s = 20; google.protobuf.Timestamp at = 3; }
enum E { A = 0; B = -1; C = 7; }
"""


def _fields(label: str) -> str:
    plain = [f"{label} {kind} a{index} = {400 - index};" for index, kind in enumerate(KINDS)]
    optional = [f"optional {kind} b{index} = {index + 1};" for index, kind in enumerate(KINDS)]
    others = """
        optional I inner = 500; optional google.protobuf.Timestamp at = 501; optional google.type.Date day = 502;
        optional google.type.TimeOfDay time = 503; optional google.protobuf.Int32Value wrapped = 505;
    """
    return "\n".join([*plain, *optional, others, "optional " + MONEY.format(504)])


OF_PROTO2 = MESSAGES.replace("{ int32", "{ optional int32").replace(" google", " optional google")
DEFAULTS = "optional int32 d1 = 600 [default = 7]; optional E d2 = 601 [default = C]; required string d3 = 602;"
SCHEMAS = {
    "proto3": registered(f"{IMPORTS} message M {{ {_fields('')} }} {MESSAGES}"),
    "proto2": registered(f"{IMPORTS} message M {{ {_fields('optional')} {DEFAULTS} }} {OF_PROTO2}", syntax="proto2"),
}
SMALL = st.integers(-3, 70)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **{f"a{index}": values for index, (kind, values) in enumerate(KINDS.items()) if kind not in ("uint64", "fixed64")},
    **{f"b{index}": values for index, (kind, values) in enumerate(KINDS.items()) if kind not in ("uint64", "fixed64")},
    "inner": st.fixed_dictionaries({"n": KINDS["int32"], "at": st.builds(dict, seconds=SMALL, nanos=SMALL)}),
    "at": st.builds(dict, seconds=st.integers(-(2**40), 2**40), nanos=st.integers(-1, 10**9)),
    "day": st.builds(dict, year=st.integers(-1, 10_001), month=st.integers(0, 13), day=st.integers(0, 32)),
    "time": st.builds(dict, hours=SMALL, minutes=SMALL, seconds=SMALL, nanos=st.integers(-1, 10**9)),
    "wrapped": st.builds(dict, value=KINDS["int32"]),
    "money": st.builds(dict, value=st.binary(max_size=12), scale=st.integers(1, 3), precision=SMALL.map(abs)),
}


@st.composite
def messages(draw: st.DrawFn, syntax: str) -> bytes:
    """A message with some fields; sometimes two of them, one after the other, or with other bytes."""
    names = draw(st.sets(st.sampled_from(sorted(VALUES)), max_size=6))
    made = message_of(SCHEMAS[syntax], "M")(**{name: draw(VALUES[name]) for name in names})
    data: bytes = made.SerializePartialToString()
    what = draw(st.integers(0, 5))
    if what == 0:
        data += data
    if what == 1:
        data = data[: draw(st.integers(0, len(data)))] + draw(st.binary(max_size=12))
    return FIRST + data


def _same(syntax: str, payloads: list[bytes], **values: Any) -> None:
    format_ = ProtobufFormat({name.replace("_", "."): value for name, value in values.items()})
    decoder = format_.decoder(SCHEMAS[syntax], FIRST)
    assert isinstance(decoder, ProtobufDecoder)
    batch = pa.array(payloads, pa.binary())
    data, errors = decoder.decode(batch)
    again, others = decoder.one_by_one(batch)
    assert repr(data.to_pylist()) == repr(again.to_pylist())  # as texts: NaN is not equal to itself
    assert (errors and errors.to_pylist()) == (others and others.to_pylist())


@pytest.mark.parametrize("syntax", SCHEMAS)
@given(st.data())
def test_any_messages(syntax: str, data: st.DataObject) -> None:
    flags = data.draw(st.fixed_dictionaries(dict.fromkeys(("int_for_enums", "optional_for_proto2"), st.booleans())))
    _same(syntax, data.draw(st.lists(messages(syntax), min_size=1, max_size=4)), **flags)


@pytest.mark.parametrize("syntax", SCHEMAS)
@given(st.lists(st.binary(max_size=20).map(lambda data: FIRST + data), min_size=1, max_size=3))
def test_any_bytes(syntax: str, payloads: list[bytes]) -> None:
    _same(syntax, payloads)


def test_nan_and_negative_zero_are_read_the_same() -> None:
    nan, zero = b"\x5d\x00\x20\x80\x7f", b"\x5d\x00\x00\x00\x80"  # field 11, a float of 32 bits
    _same("proto3", [FIRST + nan, FIRST + zero])


def test_usual_messages_are_not_left() -> None:
    made = message_of(SCHEMAS["proto3"], "M")
    inner = {"n": 5, "at": {"seconds": 1}}
    usual = [made(a0=-1, b12=True, a13="x", inner=inner), made(), made(day={"year": 2024, "month": 2, "day": 29})]
    decoder = ProtobufFormat({}).decoder(SCHEMAS["proto3"], FIRST)
    assert isinstance(decoder, ProtobufDecoder)
    column_and_left = decoder.in_columns(pa.array([FIRST + each.SerializeToString() for each in usual], pa.binary()))
    assert column_and_left is not None
    assert not column_and_left[1].any()
