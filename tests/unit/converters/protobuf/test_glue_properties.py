"""Any data can be written as Amazon's converter writes them and read again; any bytes are read, or have an error."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import (
    DATE_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    decimal_schema,
    struct,
)
from airflow_kconnect.converters.protobuf.glue import GlueProtobufFormat
from airflow_kconnect.converters.types import arrow_type

INT8, INT64, DOUBLE = (ConnectSchema(type_) for type_ in (SchemaType.INT8, SchemaType.INT64, SchemaType.FLOAT64))
INNER = struct(("n", INT64), ("s", STRING_SCHEMA.as_optional()), name="Inner")
SCALED = ConnectSchema(SchemaType.BYTES, name=decimal_schema(4).name, version=1,
                       parameters={"scale": "4", "connect.decimal.scale": "4"})  # fmt: skip
SCHEMA = struct(
    ("z", INT8.as_optional()),
    ("a", INT64),
    ("b", DOUBLE.as_optional()),
    ("c", INNER),
    ("d", INNER.as_optional()),
    ("e", ConnectSchema(SchemaType.ARRAY, value_schema=INNER)),
    ("f", ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT64)),
    ("g", TIMESTAMP_SCHEMA),
    ("h", DATE_SCHEMA.as_optional()),
    ("i", SCALED.as_optional()),
    name="Outer",
)
FORM = GlueProtobufFormat({})
SHAPE = Shape(SCHEMA)
REGISTERED = FORM.schema_of(SHAPE)
FIRST = b"\0"
LONG, TEXT = st.integers(-(2**63), 2**63 - 1), st.text(max_size=5)
PART = st.fixed_dictionaries({"n": LONG, "s": st.none() | TEXT})
ROW = st.fixed_dictionaries(
    {
        "z": st.none() | st.integers(-128, 127),
        "a": LONG,
        "b": st.none() | st.floats(allow_nan=False),
        "c": PART,
        "d": st.none() | PART,
        "e": st.lists(PART, max_size=3),
        "f": st.dictionaries(TEXT, LONG, max_size=3).map(lambda entries: sorted(entries.items())),
        "g": st.integers(-62_135_596_800_000, 253_402_300_799_999).map(lambda millis: millis * 1000),
        "h": st.none() | st.dates(),
        "i": st.none() | st.decimals(-(10**18), 10**18, places=4),
    }
)


def written(rows: list[dict[str, Any]]) -> tuple[pa.Array, pa.Array, pa.Array | None]:
    """Data, their payloads, and errors."""
    data = pa.array(rows, arrow_type(SCHEMA))
    return data, *FORM.encoder(REGISTERED, SHAPE).encode(data)


def decoded(payloads: list[bytes]) -> tuple[pa.Array, pa.Array | None]:
    return FORM.decoder(REGISTERED, FIRST).decode(pa.array(payloads, pa.binary()))


@given(st.lists(ROW, min_size=1, max_size=4))
def test_data_are_read_as_they_were_written(rows: list[dict[str, Any]]) -> None:
    data, payloads, errors = written(rows)

    found, wrong = decoded(payloads.to_pylist())

    names = [field.name for field in SCHEMA.fields]
    assert (errors, wrong) == (None, None)
    assert [{**{name: row[name] for name in names}, "f": sorted(row["f"])} for row in found.to_pylist()] == (
        data.to_pylist()
    )


@given(ROW, st.data())
def test_a_damaged_message_does_not_harm_others(row: dict[str, Any], damage: st.DataObject) -> None:
    payload = written([row])[1][0].as_py()
    at = damage.draw(st.integers(1, len(payload)))
    broken = payload[:at] + damage.draw(st.binary(max_size=2)) + payload[at + 1 :]

    column, errors = decoded([broken, payload])

    column.validate(full=True)
    assert errors is None or errors.to_pylist()[1] is None
