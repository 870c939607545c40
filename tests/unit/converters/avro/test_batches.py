"""Batches of Avro messages: ours, fastavro's and confluent-kafka's must be the same bytes and the same values."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.avro.payloads.read_records import record_reader
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.avro.corpus import CASES, COLOUR, INNER, OTHER, Case, fixed

HEADER = 5
CONTEXT = SerializationContext("topic", MessageField.VALUE)
# Without enhanced.avro.schema.support enums become strings, and members of unions get that name.
WITHOUT_ENUMS_IN_UNIONS = {name: case for name, case in CASES.items() if "union of enum" not in name}
# confluent-kafka does not accept messages without payload.
NOT_EMPTY = {name: case for name, case in CASES.items() if name != "empty record"}
CORPUS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@pytest.fixture(scope="module")
def client() -> SchemaRegistryClient:
    """Of a registry in this process; its making takes longer than all else here."""
    return SchemaRegistryClient.new_client({"url": "mock://corpus"})


def fastavro_payloads(case: Case) -> list[bytes]:
    schema = fastavro.parse_schema(json.loads(case.registered.text))

    def payload(value: Any) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, value)
        return out.getvalue()

    return [payload(value) for value in case.written]


def fastavro_values(schema: RegisteredSchema, payloads: list[bytes]) -> list[Any]:
    parsed = fastavro.parse_schema(json.loads(schema.text))
    return [fastavro.schemaless_reader(io.BytesIO(payload), parsed, None) for payload in payloads]


def decoded(case: Case, payloads: list[bytes]) -> pa.Array:
    data, errors = AvroFormat({}).decoder(case.registered, b"").decode(pa.array(payloads, pa.binary()))
    assert errors is None
    data.validate(full=True)
    return data


def shape_of(schema: RegisteredSchema) -> Shape:
    return AvroFormat({}).shape_of(schema, b"")


def encoded(schema: RegisteredSchema, shape: Shape, data: pa.Array) -> list[bytes]:
    payloads, errors = AvroFormat({}).encoder(schema, shape).encode(data)
    assert errors is None
    found: list[bytes] = payloads.to_pylist()
    return found


@CORPUS
def test_messages_of_fastavro_are_decoded(case: Case) -> None:
    data = decoded(case, fastavro_payloads(case))
    assert data.type == arrow_type(shape_of(case.registered).schema)
    assert data.to_pylist() == case.expected


@CORPUS
def test_messages_are_encoded_as_fastavro_does(case: Case) -> None:
    payloads = fastavro_payloads(case)
    shape = shape_of(case.registered)
    data = pa.array(case.expected, arrow_type(shape.schema))
    assert encoded(case.registered, shape, data) == payloads


@pytest.mark.parametrize("case", WITHOUT_ENUMS_IN_UNIONS.values(), ids=WITHOUT_ENUMS_IN_UNIONS.keys())
def test_data_survive_the_schema_that_is_made_for_them(case: Case) -> None:
    shape = shape_of(case.registered)
    data = pa.array(case.expected, arrow_type(shape.schema))
    format_ = AvroFormat({})
    made = format_.schema_of(shape)
    payloads = encoded(made, shape, data)
    assert format_.schema_of(format_.shape_of(made, b"")) == made
    assert format_.decoder(made, b"").decode(pa.array(payloads, pa.binary()))[0].to_pylist() == case.expected
    fastavro_values(made, payloads)


@pytest.mark.parametrize("key", ["enhanced.avro.schema.support", "generalized.sum.type.support"])
@pytest.mark.parametrize("union", [[COLOUR, "string", fixed(2), "null"], ["long", "int", INNER, OTHER, "null"]])
def test_members_of_a_union_keep_their_types(key: str, union: list[Any]) -> None:
    values = ["RED", "RED", b"ab", None] if "string" in union else [1, 2, {"a": 3}, {"b": "x"}, None]
    format_, registered = AvroFormat({key: True}), RegisteredSchema("AVRO", json.dumps(union))
    shape = format_.shape_of(registered, b"")
    assert shape.schema is not None
    names = [member.name for member in shape.schema.fields]
    nothing = dict.fromkeys(names)
    rows = [nothing | {name: value} for name, value in zip(names, values, strict=False)]
    data = pa.array([*rows, None], arrow_type(shape.schema))
    made = format_.schema_of(shape)
    payloads, errors = format_.encoder(made, shape).encode(data)
    assert errors is None
    assert [payload[0] // 2 for payload in payloads.to_pylist()] == [1, 2, 3, *([4] if len(union) > 4 else []), 0]
    again = format_.decoder(made, b"").decode(payloads)[0].to_pylist()
    assert [row and list(row.values()) for row in again] == [row and list(row.values()) for row in data.to_pylist()]


@CORPUS
def test_a_slice_of_a_batch_is_encoded(case: Case) -> None:
    shape = shape_of(case.registered)
    data = pa.array([*case.expected, *case.expected, *case.expected], arrow_type(shape.schema))
    rows = len(case.expected)
    assert encoded(case.registered, shape, data.slice(rows, rows)) == fastavro_payloads(case)


@CORPUS
def test_reading_one_by_one_gives_the_same(case: Case) -> None:
    decoder = pickle.loads(pickle.dumps(AvroFormat({}).decoder(case.registered, b"")))  # noqa: S301
    read = record_reader(decoder.plan)
    values = [read(payload) for payload in fastavro_payloads(case)]
    assert pa.array(values, arrow_type(decoder.plan.schema)).to_pylist() == case.expected


@CORPUS
def test_a_message_that_ends_early_is_an_error_of_its_row(case: Case) -> None:
    payloads = fastavro_payloads(case)
    whole = max(payloads, key=len)
    parts = [whole[:size] for size in {0, 1, len(whole) // 2, len(whole) - 1} if 0 <= size < len(whole)]
    decoder = AvroFormat({}).decoder(case.registered, b"")
    data, errors = decoder.decode(pa.array([*parts, whole], pa.binary()))
    if not parts:
        return
    assert errors is not None
    assert all(errors[index].as_py() for index in range(len(parts)))
    assert data[: len(parts)].null_count == len(parts)
    assert errors[len(parts)].as_py() is None
    assert data[len(parts)].as_py() == case.expected[payloads.index(whole)]


@CORPUS
def test_messages_of_confluents_serializer_are_decoded(client: SchemaRegistryClient, case: Case) -> None:
    serialize = AvroSerializer(client, case.registered.text)
    rows = [index for index, value in enumerate(case.written) if value is not None]
    payloads = [serialize(case.written[row], CONTEXT)[HEADER:] for row in rows]
    assert decoded(case, payloads).to_pylist() == [case.expected[row] for row in rows]


@pytest.mark.parametrize("case", NOT_EMPTY.values(), ids=NOT_EMPTY.keys())
def test_confluents_deserializer_reads_ours(client: SchemaRegistryClient, case: Case) -> None:
    serialize, deserialize = AvroSerializer(client, case.registered.text), AvroDeserializer(client)
    rows = [index for index, value in enumerate(case.written) if value is not None]
    shape = shape_of(case.registered)
    ours = encoded(case.registered, shape, pa.array([case.expected[row] for row in rows], arrow_type(shape.schema)))
    for row, payload in zip(rows, ours, strict=True):
        header = serialize(case.written[row], CONTEXT)[:HEADER]
        assert deserialize(header + payload, CONTEXT) == deserialize(header + fastavro_payloads(case)[row], CONTEXT)
