"""Random schemas and damaged messages: batches, single messages and fastavro must agree, and nothing may crash."""

from __future__ import annotations

import io
import json
import math
import re
from itertools import count
from typing import Any

import fastavro
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.avro.payloads.batches import AvroDecoder
from airflow_kconnect.converters.avro.payloads.read_records import record_reader
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.avro.corpus import CASES, nullable

INTS = st.integers(-(2**31), 2**31 - 1)
LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("boolean", st.booleans()),
    ("int", INTS),
    ("long", st.integers(-(2**63), 2**63 - 1)),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False)),
    ("string", st.text(st.characters(codec="utf-8"))),
    ("bytes", st.binary()),
    ({"type": "int", "logicalType": "time-millis"}, st.integers(0, 86_399_999)),
    ({"type": "int", "connect.type": "int8"}, st.integers(-128, 127)),
]


def types(names: Any, depth: int) -> st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]]:
    """Avro types, each with a strategy of its values."""
    leaf = st.sampled_from(LEAVES)
    if depth == 0:
        return leaf
    inner = types(names, depth - 1)
    return st.one_of(
        leaf,
        inner.map(
            lambda found: (nullable(found[0]), st.none() | found[1]) if not isinstance(found[0], list) else found
        ),
        inner.map(lambda found: ({"type": "array", "items": found[0]}, st.lists(found[1], max_size=4))),
        inner.map(
            lambda found: ({"type": "map", "values": found[0]}, st.dictionaries(st.text("ab"), found[1], max_size=3))
        ),
        st.lists(inner, min_size=1, max_size=4).map(lambda found: record(names, found)),
    )


def record(names: Any, found: list[tuple[Any, st.SearchStrategy[Any]]]) -> tuple[Any, st.SearchStrategy[Any]]:
    fields = [{"name": f"f{index}", "type": type_} for index, (type_, _) in enumerate(found)]
    values = st.fixed_dictionaries({f"f{index}": values for index, (_, values) in enumerate(found)})
    return {"type": "record", "name": f"R{next(names)}", "fields": fields}, values


@st.composite
def batches(draw: st.DrawFn) -> tuple[RegisteredSchema, list[Any]]:
    names = count()
    members = draw(st.lists(types(names, 3), min_size=1, max_size=4))
    schema, values = record(names, members)
    return RegisteredSchema("AVRO", json.dumps(schema)), draw(st.lists(values, min_size=1, max_size=6))


def as_arrow(value: Any) -> Any:
    """A value of fastavro, with maps as Arrow has them."""
    if isinstance(value, list):
        return [as_arrow(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value and all(name[:1] == "f" for name in value):
        return {name: as_arrow(item) for name, item in value.items()}
    return [(name, as_arrow(item)) for name, item in value.items()]


def payloads_of(schema: RegisteredSchema, values: list[Any]) -> list[bytes]:
    parsed, found = fastavro.parse_schema(json.loads(schema.text)), []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, value)
        found.append(out.getvalue())
    return found


@given(batches())
def test_what_fastavro_writes_is_read_and_written_the_same(batch: tuple[RegisteredSchema, list[Any]]) -> None:
    schema, values = batch
    payloads = payloads_of(schema, values)
    format_ = AvroFormat({})
    data, errors = format_.decoder(schema, b"").decode(pa.array(payloads, pa.binary()))
    assert errors is None
    assert data.to_pylist() == [as_arrow(value) for value in values]
    again, errors = format_.encoder(schema, format_.shape_of(schema, b"")).encode(data)
    assert errors is None
    assert again.to_pylist() == payloads


def one_by_one(decoder: AvroDecoder, payloads: list[bytes]) -> tuple[list[Any], list[str | None]]:
    read = record_reader(decoder.plan)
    values: list[Any] = []
    errors: list[str | None] = []
    for payload in payloads:
        try:
            values.append(read(payload))
            errors.append(None)
        except DataError as error:
            values.append(None)
            errors.append(str(error))
    return pa.array(values, arrow_type(decoder.plan.schema)).to_pylist(), errors


def assert_same(decoder: AvroDecoder, payloads: list[bytes]) -> None:
    """Batches give the values and errors that single messages have."""
    data, errors = decoder.decode(pa.array(payloads, pa.binary()))
    data.validate(full=True)
    values, texts = one_by_one(decoder, payloads)
    assert repr(data.to_pylist()) == repr(values)
    assert (errors.to_pylist() if errors is not None else [None] * len(payloads)) == texts


@st.composite
def damaged(draw: st.DrawFn) -> tuple[RegisteredSchema, list[bytes]]:
    schema, values = draw(batches())
    payloads = payloads_of(schema, values)
    for index, payload in enumerate(payloads):
        changes = draw(st.lists(st.tuples(st.integers(0, max(0, len(payload) - 1)), st.integers(0, 255)), max_size=3))
        changed = bytearray(payload)
        for place, byte in changes:
            changed[place : place + 1] = bytes([byte])
        payloads[index] = (
            bytes(changed)[: draw(st.integers(0, len(changed)))] if draw(st.booleans()) else bytes(changed)
        )
    return schema, payloads


@given(damaged())
def test_damaged_messages_are_errors_of_their_rows(batch: tuple[RegisteredSchema, list[bytes]]) -> None:
    schema, payloads = batch
    assert_same(AvroFormat({}).decoder(schema, b""), payloads)


# Python has no dates after the year 9999.
WITHOUT_DATES = [case for case in CASES.values() if not re.search("date|timestamp-millis", case.registered.text)]


@given(st.sampled_from(WITHOUT_DATES), st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_random_bytes_are_read_or_refused(case: Any, payloads: list[bytes]) -> None:
    assert_same(AvroFormat({}).decoder(case.registered, b""), payloads)


@given(st.lists(st.floats()))
def test_every_double_survives(values: list[float]) -> None:
    format_, schema = AvroFormat({}), RegisteredSchema("AVRO", '"double"')
    payloads, _ = format_.encoder(schema, format_.shape_of(schema, b"")).encode(pa.array(values, pa.float64()))
    found = format_.decoder(schema, b"").decode(payloads)[0].to_pylist()
    assert [math.isnan(value) or value for value in found] == [math.isnan(value) or value for value in values]
