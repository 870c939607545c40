"""Any data can be written and read again; a damaged message is read, or has an error."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.types import arrow_type
from tests.unit.converters.protobuf.corpus import FIRST, registered

SCHEMA = registered(
    """
    import 'google/protobuf/timestamp.proto'; import 'google/type/date.proto';
    message M {
      sint32 a = 1; optional fixed64 b = 2; string c = 3; optional bytes d = 4; double e = 5; bool f = 6;
      repeated int64 g = 7; repeated I h = 8; map<string, I> i = 9; I j = 10; optional float k = 17;
      oneof choice { string l = 11; I m = 12; E n = 13; }
      google.protobuf.Timestamp o = 14; google.type.Date p = 15; E q = 16;
    }
    message I { uint32 a = 1; repeated string b = 2; }
    enum E { A = 0; B = -1; C = 7; }
    """
)
FORMAT = ProtobufFormat({})
SHAPE = FORMAT.shape_of(SCHEMA, FIRST)
LONG = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(max_size=5)
INNER = st.fixed_dictionaries({"a": st.integers(0, 2**32 - 1), "b": st.lists(TEXT, max_size=3)})
ENUM = st.sampled_from("ABC")
NOTHING = {"l": None, "m": None, "n": None}
UNION = st.one_of(
    st.none(),
    TEXT.map(lambda v: {**NOTHING, "l": v}),
    INNER.map(lambda v: {**NOTHING, "m": v}),
    ENUM.map(lambda v: {**NOTHING, "n": v}),
)
SECONDS = st.integers(-62_135_596_800, 253_402_300_799)
ROW = st.fixed_dictionaries(
    {
        "choice_0": UNION,
        "a": st.integers(-(2**31), 2**31 - 1),
        "b": st.none() | LONG,
        "c": TEXT,
        "d": st.none() | st.binary(max_size=5),
        "e": st.floats(allow_nan=False),
        "f": st.booleans(),
        "g": st.lists(LONG, max_size=3),
        "h": st.lists(INNER, max_size=3),
        "i": st.dictionaries(TEXT, INNER, max_size=3).map(lambda entries: sorted(entries.items())),
        "j": st.none() | INNER,
        "k": st.none() | st.floats(width=32, allow_nan=False),
        "o": st.none() | st.builds(lambda s, ms: s * 1_000_000 + ms * 1_000, SECONDS, st.integers(0, 999)),
        "p": st.none() | st.dates(),
        "q": ENUM,
    }
)


def decoded(payloads: list[bytes]) -> tuple[pa.Array, pa.Array | None]:
    return FORMAT.decoder(SCHEMA, FIRST).decode(pa.array(payloads, pa.binary()))


@given(st.lists(ROW, min_size=1, max_size=4))
def test_data_are_read_as_they_were_written(rows: list[dict[str, Any]]) -> None:
    data = pa.array(rows, arrow_type(SHAPE.schema))
    payloads, errors = FORMAT.encoder(SCHEMA, Shape(SHAPE.schema)).encode(data)
    assert errors is None
    data_read, wrong = decoded(payloads.to_pylist())
    assert wrong is None
    in_order = [{**row, "i": sorted(row["i"])} for row in data_read.to_pylist()]
    assert in_order == data.to_pylist()


@given(ROW, st.data())
def test_damaged_messages_are_read_or_have_an_error(row: dict[str, Any], damage: st.DataObject) -> None:
    data = pa.array([row], arrow_type(SHAPE.schema))
    payload = FORMAT.encoder(SCHEMA, Shape(SHAPE.schema)).encode(data)[0][0].as_py()
    at = damage.draw(st.integers(1, len(payload)))
    broken = payload[:at] + damage.draw(st.binary(max_size=2)) + payload[at + 1 :]
    column, errors = decoded([broken, payload])
    column.validate(full=True)
    assert errors is None or errors.to_pylist()[1] is None
