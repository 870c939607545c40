"""Batches of Protobuf messages: ours, Google's and confluent-kafka's must be the same bytes and the same values."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.protobuf.corpus import CASES, FIRST, Case, message_of, registered

HEADER = 5
CONTEXT = SerializationContext("topic", MessageField.VALUE)
# Without optional.for.nullables a field that is not set cannot be told from its default.
WITHOUT_LABELS = {name: case for name, case in CASES.items() if "optional" not in name}
CORPUS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@pytest.fixture(scope="module")
def client() -> SchemaRegistryClient:
    """Of a registry in this process; its making takes longer than all else here."""
    return SchemaRegistryClient.new_client({"url": "mock://corpus"})


def decoded(
    schema: RegisteredSchema, payloads: list[bytes], format_: ProtobufFormat | None = None
) -> tuple[list[Any], list[str | None] | None]:
    format_ = format_ or ProtobufFormat({})
    data, errors = format_.decoder(schema, payloads[0]).decode(pa.array(payloads, pa.binary()))
    data.validate(full=True)
    assert data.type == arrow_type(format_.shape_of(schema, payloads[0]).schema)
    return data.to_pylist(), None if errors is None else errors.to_pylist()


def encoded(
    schema: RegisteredSchema, connect: ConnectSchema, rows: list[Any]
) -> tuple[list[bytes | None], list[str | None] | None]:
    data = pa.array(rows, arrow_type(connect))
    payloads, errors = ProtobufFormat({}).encoder(schema, Shape(connect)).encode(data)
    return payloads.to_pylist(), None if errors is None else errors.to_pylist()


def schema_of(case: Case) -> ConnectSchema:
    schema = ProtobufFormat({}).shape_of(case.registered, FIRST).schema
    assert schema is not None
    return schema


@CORPUS
def test_messages_are_decoded(case: Case) -> None:
    assert decoded(case.registered, case.payloads()) == (case.read, None)


@CORPUS
def test_messages_are_encoded_as_google_does(case: Case) -> None:
    assert encoded(case.registered, schema_of(case), case.read) == (case.payloads(), None)


@CORPUS
def test_slices_of_columns_are_encoded(case: Case) -> None:
    schema = schema_of(case)
    data = pa.array([None, *case.read, None], arrow_type(schema))[1:-1]
    payloads, _ = ProtobufFormat({}).encoder(case.registered, Shape(schema)).encode(data)
    assert payloads.to_pylist() == case.payloads()


@pytest.mark.parametrize("case", WITHOUT_LABELS.values(), ids=WITHOUT_LABELS.keys())
def test_the_schema_that_is_created_from_a_shape_has_the_same_bytes(case: Case) -> None:
    schema = schema_of(case)
    payloads, errors = encoded(ProtobufFormat({}).schema_of(Shape(schema)), schema, case.read)
    made = message_of(case.registered, "M")
    assert errors is None
    assert [made.FromString((payload or b"")[1:]) for payload in payloads] == case.messages()


@CORPUS
def test_messages_of_confluent_kafka_are_decoded(client: SchemaRegistryClient, case: Case) -> None:
    given = case.messages()
    serializer = ProtobufSerializer(type(given[0]), client, {"use.deprecated.format": False})
    payloads = [bytes(serializer(message, CONTEXT) or b"")[HEADER:] for message in given]
    assert decoded(case.registered, payloads)[0] == case.read


@CORPUS
def test_confluent_kafka_reads_our_messages(case: Case) -> None:
    payloads, _ = encoded(case.registered, schema_of(case), case.read)
    deserializer = ProtobufDeserializer(message_of(case.registered, "M"), {"use.deprecated.format": False})
    messages = [deserializer(bytes(HEADER) + (payload or b""), CONTEXT) for payload in payloads]
    assert messages == case.messages()


def test_decoders_and_encoders_are_pickled() -> None:
    case = CASES["oneof"]
    format_, shape = ProtobufFormat({}), Shape(schema_of(case))
    decoder = pickle.loads(pickle.dumps(format_.decoder(case.registered, FIRST)))  # noqa: S301
    encoder = pickle.loads(pickle.dumps(format_.encoder(case.registered, shape)))  # noqa: S301
    data, _ = decoder.decode(pa.array(case.payloads()))
    assert encoder.encode(data)[0].to_pylist() == case.payloads()


# Bad messages and values


def test_a_message_that_is_cut_off_has_an_error() -> None:
    schema = registered("message M { string f = 1; }")
    data, errors = decoded(schema, [FIRST + b"\x0a\x01a", FIRST + b"\x0a\x05a", FIRST])
    assert data == [{"f": "a"}, None, {"f": ""}]
    assert errors is not None
    assert [text is None for text in errors] == [True, False, True]
    assert "Error deserializing Protobuf message M" in str(errors[1])


def test_text_that_is_not_utf8_has_an_error() -> None:
    schema = registered("message M { string f = 1; }")
    data, errors = decoded(schema, [FIRST + b"\x0a\x01\xff", FIRST])
    assert data == [None, {"f": ""}]
    assert errors is not None and errors[0] is not None


def test_text_of_proto2_that_is_not_utf8_has_an_error() -> None:
    schema = registered("message M { optional string f = 1; }", syntax="proto2")
    data, errors = decoded(schema, [FIRST + b"\x0a\x01\xff", FIRST])
    assert data == [None, {"f": None}]
    assert errors is not None and errors[0] is not None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Date", {"year": 2023, "month": 2, "day": 29}, "is not a date: year 2023, month 2, day 29"),
        ("Date", {}, "is not a date"),
        ("TimeOfDay", {"hours": 24}, "is not a time of day"),
        ("Timestamp", {"seconds": 2**62}, "Timestamp is not valid"),
        ("Timestamp", {"nanos": -1}, "Timestamp is not valid"),
        ("Decimal", {"value": b"\x01", "scale": 3}, "does not fit scale 2"),
        ("Decimal", {"value": b"\x7f" * 17, "scale": 2}, "more than 38 digits"),
        ("Decimal", {"value": b"\x01", "scale": -(2**31)}, "has scale -2147483648"),
    ],
)
def test_values_that_connect_does_not_have_are_errors_of_their_rows(name: str, value: Any, text: str) -> None:
    case = CASES[name]
    payloads = [*case.payloads(), *case._replace(written=[{"f": value}]).payloads(), *case.payloads()]
    data, errors = decoded(case.registered, payloads)
    assert data == [*case.read, None, *case.read]
    assert errors is not None
    assert [row for row, error in enumerate(errors) if error] == [len(case.read)]
    assert text in str(errors[len(case.read)])


def test_a_decimal_of_another_scale_is_rescaled_if_nothing_is_lost() -> None:
    case = CASES["Decimal"]._replace(
        written=[{"f": {"value": b"\x05", "scale": 0}}, {"f": {"value": b"\x64", "scale": 3}}]
    )
    assert decoded(case.registered, case.payloads())[0] == [{"f": Decimal("5.00")}, {"f": Decimal("0.10")}]


def test_nanoseconds_become_milliseconds() -> None:
    case = CASES["Timestamp"]._replace(written=[{"f": {"nanos": 1_999_999}}])
    assert decoded(case.registered, case.payloads())[0] == [{"f": datetime(1970, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC)}]


def test_an_unknown_number_of_an_enum_has_the_name_that_java_gives_it() -> None:
    assert decoded(CASES["enum"].registered, [FIRST + b"\x08\x07"])[0] == [{"f": "UNKNOWN_ENUM_VALUE_E_7"}]


def test_an_unknown_value_of_an_enum_is_an_error() -> None:
    case = CASES["enum"]
    payloads, errors = encoded(case.registered, schema_of(case), [{"f": "B"}, {"f": "C"}])
    assert payloads == [FIRST + b"\x08\x05", None]
    assert errors == [None, "'C' is not a value of enum E"]


def test_a_union_without_a_value_is_an_error() -> None:
    case = CASES["oneof"]
    rows = [{"choice_0": {"a": 1}, "d": 1}, {"choice_0": {"a": None}, "d": 1}]
    assert encoded(case.registered, schema_of(case), rows)[1] == [None, "Cannot find non-null field in choice_0"]


def test_the_first_value_of_a_union_is_written() -> None:
    case = CASES["oneof"]
    payloads, _ = encoded(case.registered, schema_of(case), [{"choice_0": {"a": 1, "b": "x"}}])
    assert payloads == [FIRST + b"\x08\x01"]


@pytest.mark.parametrize("name", ["repeated", "repeated messages", "repeated enums"])
def test_a_null_among_repeated_values_is_an_error(name: str) -> None:
    case = CASES[name]
    _, errors = encoded(case.registered, schema_of(case), [{"f": []}, {"f": [None]}, {"f": None}])
    assert errors is not None
    assert [error is None for error in errors] == [True, False, True]


def test_a_time_outside_of_the_day_is_an_error() -> None:
    case = CASES["TimeOfDay"]
    _, errors = encoded(case.registered, schema_of(case), [{"f": 86_400_000}])
    assert errors is not None and "less than 86400000" in str(errors[0])


def test_a_null_in_a_map_is_written_as_the_default() -> None:
    case = CASES["map"]
    payloads, _ = encoded(case.registered, schema_of(case), [{"f": [("a", None)]}])
    assert decoded(case.registered, [payloads[0] or b""])[0] == [{"f": [("a", 0)]}]


@pytest.mark.parametrize(("ignore", "value"), [(False, 7), (True, 0)])
def test_a_null_is_written_as_the_default_of_its_schema(ignore: bool, value: int) -> None:
    schema = struct(("f", ConnectSchema(SchemaType.INT32, True, default=7)), name="M")
    format_ = ProtobufFormat({"ignore.default.for.nullables": ignore})
    registered_schema = format_.schema_of(Shape(schema))
    payloads, _ = format_.encoder(registered_schema, Shape(schema)).encode(pa.array([{"f": None}], arrow_type(schema)))
    assert decoded(registered_schema, payloads.to_pylist())[0] == [{"f": value}]


# Binding to another schema


def test_fields_of_another_schema_are_found_by_name() -> None:
    other = registered("message N {} message M { int64 extra = 1; int64 f = 7; }")
    payloads, _ = encoded(other, struct(("f", ConnectSchema(SchemaType.INT32)), name="M"), [{"f": 5}])
    assert payloads == [b"\x02\x02\x38\x05"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("message M { int32 g = 1; }", "Cannot find field with name f in message M"),
        ("message M { bool f = 1; }", "Field f of message M: it has type bool, but the data are of type string"),
        ("message M { repeated string f = 1; }", "it is repeated, but the data are of type string"),
        ("message M { I f = 1; } message I {}", "it has type I, but the data are of type string"),
        ("enum E { A = 0; }", "has no message types"),
    ],
)
def test_a_schema_that_cannot_hold_the_data_is_refused(body: str, text: str) -> None:
    shape = Shape(struct(("f", ConnectSchema(SchemaType.STRING)), name="M"))
    with pytest.raises(DataError, match=text):
        ProtobufFormat({}).encoder(registered(body), shape)
