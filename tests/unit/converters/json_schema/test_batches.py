"""Batches of JSON messages: those of confluent-kafka are read, and it reads ours."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.json_schema.read_columns import read_columns
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.json_schema.corpus import (
    CASES,
    INNER,
    UNION,
    Case,
    decimal,
    logical,
    nullable,
    record,
    registered,
)

HEADER = 5
CONTEXT = SerializationContext("topic", MessageField.VALUE)
CORPUS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
# confluent-kafka takes a schema that is an object or has a title.
OBJECTS = {name: case for name, case in CASES.items() if isinstance(case.written[0], dict) and "title" in case.schema}
NUMERIC = {"decimal.format": "NUMERIC"}


@pytest.fixture(scope="module")
def client() -> SchemaRegistryClient:
    """Of a registry in this process; its making takes longer than all else here."""
    return SchemaRegistryClient.new_client({"url": "mock://corpus"})


def decoded(schema: Any, payloads: list[bytes], **values: Any) -> tuple[pa.Array, pa.Array | None]:
    format_ = JsonSchemaFormat(values)
    registered_schema = schema if isinstance(schema, RegisteredSchema) else registered(schema)
    data, errors = format_.decoder(registered_schema, b"").decode(pa.array(payloads, pa.binary()))
    data.validate(full=True)
    return data, errors


def value_of(schema: Any, payload: bytes) -> Any:
    data, errors = decoded(schema, [payload])
    assert errors is None
    return data[0].as_py()


def error_of(schema: Any, payload: bytes) -> str:
    data, errors = decoded(schema, [payload])
    assert errors is not None and data[0].as_py() is None
    return str(errors[0].as_py())


def encoded(shape: Shape, data: pa.Array, **values: Any) -> list[bytes]:
    format_ = JsonSchemaFormat(values)
    payloads, errors = format_.encoder(format_.schema_of(shape), shape).encode(data)
    assert errors is None
    messages: list[bytes] = payloads.to_pylist()
    return messages


def shape_of(case: Case) -> Shape:
    return JsonSchemaFormat({}).shape_of(case.registered, b"")


def data_of(case: Case) -> pa.Array:
    return pa.array(case.expected, arrow_type(shape_of(case).schema))


@CORPUS
def test_messages_are_decoded(case: Case) -> None:
    data, errors = decoded(case.schema, case.payloads)
    assert errors is None
    assert data.to_pylist() == data_of(case).to_pylist()


@CORPUS
def test_messages_are_encoded(case: Case) -> None:
    payloads = encoded(shape_of(case), data_of(case), **{"decimal.format": "NUMERIC"})
    assert [json.loads(payload) for payload in payloads] == case.written


@CORPUS
def test_data_survive_the_schema_that_is_made_for_them(case: Case) -> None:
    format_, shape = JsonSchemaFormat({}), shape_of(case)
    made = format_.schema_of(shape)
    assert format_.schema_of(format_.shape_of(made, b"")) == made
    again, errors = decoded(made, encoded(shape, data_of(case)))
    assert errors is None
    assert again.to_pylist() == data_of(case).to_pylist()


@CORPUS
def test_a_slice_of_a_batch_is_encoded(case: Case) -> None:
    rows = len(case.expected)
    data = pa.concat_arrays([data_of(case)] * 3)
    assert encoded(shape_of(case), data.slice(rows, rows)) == encoded(shape_of(case), data_of(case))


@CORPUS
def test_a_message_that_ends_early_is_an_error_of_its_row(case: Case) -> None:
    whole = max(case.payloads, key=len)
    parts = [b"", b"[" + whole, whole + b"]"]
    data, errors = decoded(case.schema, [*parts, whole])
    assert errors is not None
    assert [text is None for text in errors.to_pylist()] == [False, False, False, True]
    assert data[3].as_py() == data_of(case)[case.payloads.index(whole)].as_py()


@CORPUS
def test_decoders_and_encoders_are_pickled(case: Case) -> None:
    format_, shape = JsonSchemaFormat({}), shape_of(case)
    decoder = format_.decoder(case.registered, b"")
    encoder = format_.encoder(case.registered, shape)
    assert pickle.loads(pickle.dumps((decoder, encoder))) == (decoder, encoder)  # noqa: S301


@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS.keys())
def test_messages_of_confluents_serializer_are_decoded(client: SchemaRegistryClient, case: Case) -> None:
    serialize = JSONSerializer(json.dumps(case.schema), client)
    payloads = [serialize(value, CONTEXT)[HEADER:] for value in case.written]
    assert decoded(case.schema, payloads)[0].to_pylist() == data_of(case).to_pylist()


@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS.keys())
def test_confluents_deserializer_reads_ours(client: SchemaRegistryClient, case: Case) -> None:
    made = JsonSchemaFormat(NUMERIC).schema_of(shape_of(case)).text
    serialize, deserialize = JSONSerializer(made, client), JSONDeserializer(made, schema_registry_client=client)
    for value, ours in zip(case.written, encoded(shape_of(case), data_of(case), **NUMERIC), strict=True):
        header = serialize(value, CONTEXT)[:HEADER]
        assert deserialize(header + ours, CONTEXT) == value


# Rules of toConnectData


@pytest.mark.parametrize(
    ("schema", "payload", "expected"),
    [
        ({"type": "integer"}, b"1.0", 1),
        ({"type": "integer"}, b"1E3", 1000),
        ({"type": "integer"}, b"0e999999999", 0),
        ({"type": "number"}, b"1e999999999", float("inf")),
        ({"type": "number"}, b"9" * 400, float("inf")),
        ({"type": "number"}, b"-" + b"9" * 400, float("-inf")),
        ({"type": "number"}, b"5", 5.0),
        (record(("a", {"type": "integer"})), b'{"a":1,"a":2}', {"a": 2}),
        (record(("a", {"type": "integer"})), b'{"b":1}', {"a": None}),
        (record(("a", {"type": "integer", "default": 7})), b"{}", {"a": 7}),
        (record(("a", {"type": "integer", "default": 7})), b'{"a":null}', {"a": 7}),
        (record(("a", nullable({"type": "integer", "default": 7}))), b'{"a":null}', {"a": 7}),
        (record(("a", nullable({"type": "string"}))), b' { "a" : "\\u00e4" } ', {"a": "ä"}),
        (record(("a", UNION)), b"{}", {"a": None}),
    ],
)
def test_values_are_read(schema: Any, payload: bytes, expected: Any) -> None:
    assert value_of(schema, payload) == expected


def test_there_is_no_negative_zero() -> None:
    assert str(value_of({"type": "number"}, b"-0.0")) == "0.0"


@pytest.mark.parametrize(
    ("schema", "payload", "text"),
    [
        (INNER, b"", "Error deserializing JSON message"),
        (INNER, b"\xff{}", "Error deserializing JSON message"),
        (INNER, b"{} {}", "Error deserializing JSON message"),
        (INNER, b'{"a":NaN}', "NaN is not a number in JSON"),
        (INNER, b'{"b":NaN}', "NaN is not a number in JSON"),
        (INNER, b'{"a":' + b"[" * 100_000, "it nests too deeply"),
        (INNER, b'{"a":' + b"9" * 100_000 + b"}", "Invalid type for INT64"),
        (INNER, b'{"a":1e99999999999999999999}', "Error deserializing JSON message"),
        (INNER, b"[]", "Structs should be encoded as JSON objects, but found ARRAY"),
        (INNER, b"5", "but found NUMBER"),
        (INNER, b'{"a":null}', "Invalid null value for required INT64 field"),
        (INNER, b"null", "Invalid null value for required STRUCT field"),
        ({"type": "string"}, b"5", "Invalid type for STRING: the value in the JSON is NUMBER"),
        (nullable({"type": "string"}), b"true", "Invalid type for STRING: the value in the JSON is BOOLEAN"),
        ({"type": "boolean"}, b"1", "Invalid type for BOOLEAN"),
        ({"type": "number"}, b'"5"', "Invalid type for FLOAT64"),
        ({"type": "number", "connect.type": "float32"}, b"true", "Invalid type for FLOAT32"),
        ({"type": "integer"}, b'"5"', "Invalid type for INT64: the value in the JSON is STRING"),
        ({"type": "integer"}, b"true", "Invalid type for INT64: the value in the JSON is BOOLEAN"),
        ({"type": "integer"}, b"1.9", "Invalid type for INT64"),
        ({"type": "integer"}, b"1e999999999", "Invalid type for INT64"),
        ({"type": "integer"}, b"1e-999999999", "Invalid type for INT64"),
        ({"type": "integer", "connect.type": "int8"}, b"300", "Invalid value for INT8: the number in the JSON is out"),
        ({"type": "integer"}, b"9223372036854775808", "Invalid value for INT64"),
        ({"type": "string"}, b'"\\ud800"', "A value cannot be held in a column"),
        ({"type": "string", "connect.type": "bytes"}, b'"?"', "Invalid bytes field"),
        ({"type": "string", "connect.type": "bytes"}, b"5", "Invalid type for BYTES"),
        ({"type": "array", "items": INNER}, b"{}", "Invalid type for ARRAY"),
        (CASES["map"].schema, b"[]", "Maps with string fields should be encoded as JSON objects, but found ARRAY"),
        (CASES["map of entries"].schema, b"{}", "JSON array of objects, but found OBJECT"),
        (CASES["map of entries"].schema, b"[1]", "Found invalid map entry instead of object: NUMBER"),
        (CASES["map of entries"].schema, b'[{"key":1}]', "Found invalid map entry"),
        (UNION, b"[]", "Did not find matching oneof field for data"),
        (decimal(), b"1.234", "more digits after the point"),
        (decimal(), b"1e-999999999", "more digits after the point"),
        (decimal(), b"123456789012345678901234567890.123", "more digits after the point"),
        (decimal(), b"1e40", "more than 38 digits"),
        (decimal(), b'"?"', "Invalid bytes for Decimal field"),
        (decimal(), b"true", "underlying representation should be numeric or bytes but was BOOLEAN"),
        (logical("org.apache.kafka.connect.data.Date", "int32"), b"1.5", "representation should be integer"),
        (logical("org.apache.kafka.connect.data.Time", "int32"), b"86400000", "Time values must use number"),
        (logical("org.apache.kafka.connect.data.Timestamp", "int64"), b'"x"', "representation should be integral"),
        (logical("org.apache.kafka.connect.data.Timestamp", "int64"), b"9223372036854775807", "years 1 to 9999"),
    ],
)
def test_what_is_not_of_the_schema_is_an_error_of_its_row(schema: Any, payload: bytes, text: str) -> None:
    assert text in error_of(schema, payload)


def test_other_rows_are_read() -> None:
    data, errors = decoded(INNER, [b'{"a":1}', b"{", b'{"a":2}'])
    assert errors is not None
    assert data.to_pylist() == [{"a": 1}, None, {"a": 2}]
    assert [text is None for text in errors.to_pylist()] == [True, False, True]


@pytest.mark.parametrize("case", ["object", "nested object"])
def test_an_empty_batch_is_decoded_and_encoded(case: str) -> None:
    data, errors = decoded(CASES[case].schema, [])
    assert errors is None and len(data) == 0
    assert encoded(shape_of(CASES[case]), data) == []


# Rules of fromConnectData


def test_a_null_that_is_not_allowed_is_left_out() -> None:
    shape = shape_of(CASES["object"])
    data = pa.array([{"id": None, "name": None, "x": None}], arrow_type(shape.schema))
    assert encoded(shape, data) == [b'{"name":null}']


@pytest.mark.parametrize(("ignore", "expected"), [(False, b'{"a":7}'), (True, b'{"a":null}')])
def test_a_null_is_written_as_the_default_unless_that_is_ignored(ignore: bool, expected: bytes) -> None:
    shape = JsonSchemaFormat({}).shape_of(registered(record(("a", nullable({"type": "integer", "default": 7})))), b"")
    data = pa.array([{"a": None}], arrow_type(shape.schema))
    assert encoded(shape, data, **{"ignore.default.for.nullables": ignore}) == [expected]


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (SchemaType.FLOAT64, 1e20, b"1.0E20"),
        (SchemaType.FLOAT64, float("nan"), b'"NaN"'),
        (SchemaType.FLOAT32, 0.1, b"0.1"),
        (SchemaType.FLOAT32, float("-inf"), b'"-Infinity"'),
        (SchemaType.STRING, "😀/ä", b'"\\uD83D\\uDE00/\xc3\xa4"'),
        (SchemaType.BYTES, b"\xff\xfe", b'"//4="'),
    ],
)
def test_values_are_written_as_jackson_writes_them(type_: SchemaType, value: Any, expected: bytes) -> None:
    shape = Shape(ConnectSchema(type_))
    assert encoded(shape, pa.array([value], arrow_type(shape.schema))) == [expected]


def test_a_decimal_is_base64_unless_the_format_says_otherwise() -> None:
    case = CASES["decimal"]
    assert encoded(shape_of(case), data_of(case).slice(0, 1)) == [b'"fQ=="']
    assert encoded(shape_of(case), data_of(case).slice(0, 1), **NUMERIC) == [b"1.25"]


@pytest.mark.parametrize("zero", [b"0e-999999999", b"0e999999999", b"-0.0000"])
def test_a_decimal_may_be_zero_with_any_exponent(zero: bytes) -> None:
    assert str(value_of(decimal(), zero)) == "0.00"


@pytest.mark.parametrize("before", [b"", b" "], ids=["by Arrow", "one by one"])
def test_an_integer_of_many_digits_is_an_infinite_float(before: bytes) -> None:
    payload = before + b'{"n":' + b"9" * 5000 + b"}"
    assert value_of(record(("n", {"type": "number"})), payload) == {"n": float("inf")}


def test_a_timestamp_after_year_9999_is_written() -> None:
    shape = shape_of(CASES["timestamp"])
    data = pa.array([2**62 // 1000 * 1000], pa.int64()).cast(pa.timestamp("us")).cast(arrow_type(shape.schema))
    assert encoded(shape, data) == [str(2**62 // 1000).encode()]


def test_a_time_that_is_not_of_the_day_is_an_error() -> None:
    case = CASES["time"]
    format_ = JsonSchemaFormat({})
    payloads, errors = format_.encoder(case.registered, shape_of(case)).encode(pa.array([86_400_000], pa.int32()))
    assert payloads.to_pylist() == [None]
    assert errors is not None and "Time" in errors[0].as_py()


# Batches that Arrow reads


def both_ways(schema: Any, payloads: list[bytes]) -> tuple[list[Any], list[Any]]:
    """Data and errors of a batch, and of its messages one by one."""
    decoder = JsonSchemaFormat({}).decoder(registered(schema), b"")
    data, errors = decoder.decode(pa.array(payloads, pa.binary()))
    again, others = decoder.one_by_one(pa.array(payloads, pa.binary()))
    data.validate(full=True)
    assert data.type == again.type
    return [data.to_pylist(), errors and errors.to_pylist()], [again.to_pylist(), others and others.to_pylist()]


EVERYTHING = record(
    ("id", {"type": "integer"}),
    ("name", nullable({"type": "string"})),
    ("f", nullable({"type": "number", "connect.type": "float32"})),
    ("x", nullable({"type": "number"})),
    ("d", nullable(logical("org.apache.kafka.connect.data.Date", "int32"))),
    ("t", nullable(logical("org.apache.kafka.connect.data.Time", "int32"))),
    ("ts", nullable(logical("org.apache.kafka.connect.data.Timestamp", "int64"))),
    ("n", nullable(decimal())),
    ("b", nullable({"type": "string", "connect.type": "bytes"})),
    ("s", nullable(record(("a", {"type": "integer"}), ("l", nullable({"type": "array", "items": INNER}))))),
    ("dflt", nullable({"type": "integer", "default": 5})),
)
FULL = (
    b'{"id":1,"name":"\xc3\xa4\\u00e4","f":0.1,"x":-0.0,"d":-719162,"t":0,"ts":-1,"n":"fQ==","b":"AA==",'
    b'"s":{"a":1,"l":[{"a":1},{"a":2}]},"dflt":1}'
)


def test_arrow_reads_objects_of_all_types_but_maps_and_unions() -> None:
    schema = JsonSchemaFormat({}).shape_of(registered(EVERYTHING), b"").schema
    assert schema is not None
    columns = read_columns(schema, pa.array([FULL], pa.binary()))
    assert columns is not None and not columns[1].any()


@pytest.mark.parametrize(
    "other",
    [
        b'{"id":2}',
        b"{}",
        b'{"id":null}',
        b' {"id":2}',
        b'{"id":2}{"id":3}',
        b"5",
        b"",
        b'{"id":2,"id":3}',
        b'{"id":2.0}',
        b'{"id":99999999999999999999}',
        b'{"id":2,"x":NaN}',
        b'{"id":2,"y":-Infinity}',
        b'{"id":2,"x":1e999}',
        b'{"id":2,"name":5}',
        b'{"id":2,"name":"\\ud800"}',
        b'{"id":2,"name":"\xff"}',
        b'{"id":2,"name":"a\nb"}',
        b'{"id":2,"d":-719163}',
        b'{"id":2,"t":86400000}',
        b'{"id":2,"ts":9223372036854775807}',
        b'{"id":2,"n":1.25}',
        b'{"id":2,"n":"?"}',
        b'{"id":2,"b":"?"}',
        b'{"id":2,"s":{}}',
        b'{"id":2,"s":{"a":null}}',
        b'{"id":2,"s":{"a":1,"l":[null]}}',
        b'{"id":2,"s":{"a":1,"l":[{}]}}',
        b'{"id":2,"s":[]}',
        b'{"id":2,"dflt":null}',
        b'{"id":2,"other":{"deep":[[[{}]]]}}',
        b'{"id":2,"other":' + b'{"a":' * 100 + b"1" + b"}" * 101,
    ],
)
def test_a_batch_is_read_as_its_messages(other: bytes) -> None:
    batch, messages = both_ways(EVERYTHING, [FULL, other, FULL])
    assert batch == messages


def test_deep_nesting_in_a_property_that_is_not_read_does_no_harm() -> None:
    deep = b'{"id":2,"other":' + b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_001
    data, errors = decoded(EVERYTHING, [deep, FULL])
    assert (errors is None) == data[0].is_valid
    assert data[1].as_py()["id"] == 1
