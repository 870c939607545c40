"""The Avro format as a converter uses it: schemas, references, names, keys, messages of bytes."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered.slices import binary, joined
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import varint
from tests.unit.converters.avro.corpus import INNER, decimal, record

INT32 = ConnectSchema(SchemaType.INT32)


def registered(avro: Any, *references: tuple[str, RegisteredSchema], version: int | None = None) -> RegisteredSchema:
    return RegisteredSchema("AVRO", json.dumps(avro), references, version)


def texts(errors: pa.Array | None) -> list[str | None]:
    assert errors is not None
    found: list[str | None] = errors.to_pylist()
    return found


def test_keys_and_defaults_are_those_of_avro_data_config() -> None:
    assert AvroFormat.config().parse({}) == {
        "generalized.sum.type.support": False,
        "ignore.default.for.nullables": False,
        "enhanced.avro.schema.support": False,
        "scrub.invalid.names": False,
        "connect.meta.data": True,
        "discard.type.doc.default": False,
        "allow.optional.map.keys": False,
        "flatten.singleton.unions": True,
        "schemas.cache.config": 1000,
    }


def test_a_wrong_value_of_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"connect\.meta\.data"):
        AvroFormat.config().parse({"connect.meta.data": "maybe"})


def test_keys_have_an_effect() -> None:
    format_ = AvroFormat(AvroFormat.config().parse({"connect.meta.data": "false"}))
    assert format_.schema_of(Shape(ConnectSchema(SchemaType.INT8))).text == '"int"'


@pytest.mark.parametrize(
    ("avro", "name"),
    [(INNER, "x.Inner"), ({**INNER, "namespace": ""}, "Inner"), ("int", None), ([INNER, "null"], None)],
)
def test_only_a_record_has_a_name(avro: Any, name: str | None) -> None:
    assert AvroFormat({}).record_name(registered(avro)) == name


def test_types_of_references_are_found() -> None:
    deeper = registered({"type": "fixed", "name": "Id", "namespace": "x", "size": 2})
    inner = registered(record(("id", "x.Id"), name="Inner", namespace="x"), ("id", deeper))
    outer = registered(record(("f", "x.Inner"), ("g", "x.Id")), ("inner", inner), ("id", deeper))
    format_ = AvroFormat({})
    data, errors = format_.decoder(outer, b"").decode(pa.array([b"abcd"]))
    assert errors is None
    assert data.to_pylist() == [{"f": {"id": b"ab"}, "g": b"cd"}]


def test_the_version_of_the_registry_is_that_of_the_shape() -> None:
    shape = AvroFormat({}).shape_of(registered(INNER, version=3), b"")
    assert shape.schema is not None and shape.schema.version == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is not JSON"),
        ("int", "it is not JSON"),
        ("7", "no type in 7"),
        ("{}", "no type in {}"),
        ('"x.Unknown"', 'it uses type "x.Unknown", which neither it nor its references define'),
        ('["int","int"]', "a union contains int twice"),
        ('["int",["null"]]', "a union contains another one"),
        ('{"type":"array"}', "no `items`"),
        ('{"type":"record","name":"R"}', "no `fields`"),
        ('{"type":"record","fields":[]}', "no `name`"),
        ('{"type":"record","name":"R","fields":[{"name":"a"}]}', "a field has no name or no type"),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}',
            "the same name",
        ),
        ('{"type":"enum","name":"E"}', "no `symbols`"),
        ('{"type":"fixed","name":"F","size":-1}', "no `size`"),
        ('[{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":2}]', "type F is defined twice"),
        ('{"type":"array","items":' * 3000 + '"int"' + "}" * 3000, "nests too deeply"),
    ],
    ids=lambda text: text[:40],
)
def test_invalid_schemas_are_refused(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=r"^The Avro schema is invalid: ") as error:
        AvroFormat({}).shape_of(RegisteredSchema("AVRO", text), b"")
    assert problem in str(error.value)


def test_names_are_resolved_in_the_namespace_around_them() -> None:
    avro = record(
        ("a", {**INNER, "namespace": "z"}), ("b", "z.Inner"), ("c", {"type": "enum", "name": "E", "symbols": []})
    )
    schema = AvroFormat({}).shape_of(registered(avro), b"").schema
    assert schema is not None
    assert [member.schema.name for member in schema.fields] == ["z.Inner", "z.Inner", "x.y.E"]


def test_data_without_schema_are_refused() -> None:
    with pytest.raises(DataError, match="use JsonConverter"):
        AvroFormat({}).schema_of(SCHEMALESS)


def test_schemaless_data_of_avro_converter_are_refused() -> None:
    anything = record(("boolean", ["null", "boolean"]), name="Anything", namespace="io.confluent.connect.avro")
    with pytest.raises(DataError, match="Data without a schema"):
        AvroFormat({}).shape_of(registered(anything), b"")


@pytest.mark.parametrize("data", [b"", b"\x04ab", bytes(1000)])
def test_a_message_of_bytes_is_nothing_but_the_bytes(data: bytes) -> None:
    format_, schema = AvroFormat({}), registered("bytes")
    payloads, _ = format_.encoder(schema, format_.shape_of(schema, b"")).encode(pa.array([data], pa.binary()))
    assert payloads.to_pylist() == [data]
    assert format_.decoder(schema, b"").decode(payloads)[0].to_pylist() == [data]


def test_a_message_can_be_a_decimal() -> None:
    format_, schema = AvroFormat({}), registered(decimal(2, 10))
    data, errors = format_.decoder(schema, b"").decode(pa.array([b"\x80", b"", b"\x7f" * 17]))
    assert data.to_pylist() == [Decimal("-1.28"), None, None]
    assert texts(errors) == [None, "Zero length BigInteger", "Decimal has more than 38 digits"]


@pytest.mark.parametrize(("logical", "number"), [("date", 2**31 - 1), ("timestamp-millis", 2**63 // 1000)])
def test_instants_can_be_later_than_those_of_python(logical: str, number: int) -> None:
    type_ = "int" if logical == "date" else "long"
    payload = varint(number)
    data, errors = (
        AvroFormat({})
        .decoder(registered({"type": type_, "logicalType": logical}), b"")
        .decode(pa.array([payload, b""]))
    )
    assert texts(errors)[0] is None
    factor = 1 if logical == "date" else 1000
    assert data.cast(pa.int32() if logical == "date" else pa.int64()).to_pylist() == [number * factor, None]


def test_bytes_after_the_value_are_ignored() -> None:
    data, errors = AvroFormat({}).decoder(registered("int"), b"").decode(pa.array([b"\x02trailing"]))
    assert (data.to_pylist(), errors) == ([1], None)


def test_no_messages_are_decoded_and_encoded() -> None:
    format_, schema = AvroFormat({}), registered(record(("a", "int"), ("b", {"type": "map", "values": "string"})))
    data, errors = format_.decoder(schema, b"").decode(pa.array([], pa.binary()))
    assert (len(data), errors) == (0, None)
    assert len(format_.encoder(schema, format_.shape_of(schema, b"")).encode(data)[0]) == 0


@pytest.mark.parametrize(
    ("avro", "payload", "problem"),
    [
        ("int", b"", "the message ends within a number"),
        ("int", b"\xff" * 10 + b"\x01", "Invalid long encoding"),
        ("int", b"\xff\xff\xff\xff\xff\x01", "Invalid int encoding"),
        ("string", b"\x01", "Malformed data. Length is negative: -1"),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "bytes expected, but the message has only 0 more"),
        ("double", b"1234567", "8 bytes expected, but the message has only 7 more"),
        (["null", "int"], b"\x04", "2 is not the number of a branch of the union"),
        (["int", "string"], b"\x07", "-4 is not the number of a branch"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "1 is not the number of a symbol: the enum has 1"),
        (
            {"type": "array", "items": "double"},
            b"\x80\x80\x80\x80\x80\x80\x80\x80\x40",
            "items expected, but the message is too short",
        ),
        ({"type": "array", "items": "int"}, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "too short"),
        ({"type": "int", "logicalType": "time-millis"}, b"\x01", "Time values must use number of milliseconds"),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "out of range",
        ),
    ],
    ids=str,
)
def test_malformed_messages_are_errors_of_their_rows(avro: Any, payload: bytes, problem: str) -> None:
    data, errors = AvroFormat({}).decoder(registered(avro), b"").decode(pa.array([payload]))
    assert data.to_pylist() == [None]
    assert problem in str(texts(errors)[0])


def test_errors_name_the_field() -> None:
    avro = record(("a", {**record(("b", {"type": "array", "items": "string"})), "name": "I"}))
    _, errors = AvroFormat({}).decoder(registered(avro), b"").decode(pa.array([b"\x02\x08abc"]))
    assert texts(errors) == ["Field a.b[]: 4 bytes expected, but the message has only 3 more"]


def test_text_that_is_not_utf_8_has_replacement_characters() -> None:
    data, errors = AvroFormat({}).decoder(registered("string"), b"").decode(pa.array([b"\x04\xffa", b"\x02b"]))
    assert (data.to_pylist(), errors) == (["\ufffda", "b"], None)


def test_the_last_of_equal_keys_wins() -> None:
    payload = b"\x04\x02a\x02\x02a\x04\x00"
    data, errors = AvroFormat({}).decoder(registered({"type": "map", "values": "int"}), b"").decode(pa.array([payload]))
    assert (data.to_pylist(), errors) == ([[("a", 2)]], None)


def test_null_is_not_a_key() -> None:
    fields = [{"name": "key", "type": ["null", "string"]}, {"name": "value", "type": "int"}]
    entry = {"type": "record", "name": "E", "fields": fields, "connect.internal.type": "MapEntry"}
    avro = {"type": "array", "items": entry}
    data, errors = AvroFormat({}).decoder(registered(avro), b"").decode(pa.array([b"\x02\x00\x02\x00", b"\x00"]))
    assert data.to_pylist() == [None, []]
    assert texts(errors) == ["Found null as a key of a map: maps in Spark have none", None]


def test_keys_can_be_structs() -> None:
    fields = [{"name": "key", "type": INNER}, {"name": "value", "type": "int"}]
    entry = {"type": "record", "name": "E", "fields": fields, "connect.internal.type": "MapEntry"}
    schema = registered({"type": "array", "items": entry})
    payload = b"\x06\x02\x02\x04\x02\x02\x04\x00"
    data, errors = AvroFormat({}).decoder(schema, b"").decode(pa.array([payload]))
    assert (data.to_pylist(), errors) == ([[({"a": 1}, 2), ({"a": 2}, 1)]], None)


def test_decoders_and_encoders_can_be_pickled() -> None:
    format_, shape = AvroFormat({}), Shape(struct(("a", INT32)))
    schema = format_.schema_of(shape)
    encoder = pickle.loads(pickle.dumps(format_.encoder(schema, shape)))  # noqa: S301
    decoder = pickle.loads(pickle.dumps(format_.decoder(schema, b"")))  # noqa: S301
    assert decoder.decode(encoder.encode(pa.array([{"a": 1}]))[0])[0].to_pylist() == [{"a": 1}]


def test_a_batch_of_more_than_two_gib_is_refused() -> None:
    part = binary(np.full(2, 2**20), np.zeros(2**21, np.uint8))
    with pytest.raises(DataError, match="more than 2 GiB as messages"):
        joined([part] * 1024, 2)


def test_a_long_array_is_read_in_time_that_grows_with_it() -> None:
    schema = registered({"type": "array", "items": "string"})
    payload = b"\x80\xea\x30" + b"\x02a" * 400_000 + b"\x00"
    data, errors = AvroFormat({}).decoder(schema, b"").decode(pa.array([payload, b"\x00"]))
    assert errors is None
    assert [len(items) for items in data.to_pylist()] == [400_000, 0]
