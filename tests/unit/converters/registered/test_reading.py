"""A batch of messages: each is decoded by the schema that its first bytes name."""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa

from airflow_kconnect.connect.data import INT64_SCHEMA, Shape
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered.reading import ShapeParser
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import GUID, ID

FORM = AvroFormat(AvroFormat.config().parse({}))
LONG = FORM.decoder(RegisteredSchema("AVRO", '"long"'), b"")
PARSER = ShapeParser(Shape(INT64_SCHEMA), {ID.prefix(1): LONG, ID.prefix(2): LONG})


def _parsed(*messages: bytes | None) -> list[int | None]:
    values: list[int | None] = PARSER.parse(pa.array(messages, pa.binary())).to_pylist()
    return values


def test_a_batch_of_one_schema() -> None:
    assert _parsed(ID.prefix(1) + b"\2", ID.prefix(1) + b"\4") == [1, 2]


def test_schemas_of_one_shape_keep_the_order() -> None:
    assert _parsed(ID.prefix(2) + b"\2", ID.prefix(1) + b"\4", ID.prefix(2) + b"\6") == [1, 2, 3]


def test_other_messages_are_null() -> None:
    assert _parsed(ID.prefix(1) + b"\2", None, b"", ID.prefix(3) + b"\2", b"text", ID.prefix(2)) == [1, *[None] * 5]


def test_errors_are_those_of_the_decoder() -> None:
    messages = pa.array([ID.prefix(1) + b"\2", ID.prefix(2), None], pa.binary())

    _, errors = PARSER.decode(messages)

    assert errors is not None
    assert [error is None for error in errors.to_pylist()] == [True, False, True]


def test_payloads_begin_after_a_guid_too() -> None:
    parser = ShapeParser(Shape(INT64_SCHEMA), {ID.prefix(1): LONG, GUID.prefix(UUID(int=1)): LONG})

    messages = pa.array([GUID.prefix(UUID(int=1)) + b"\2", ID.prefix(1) + b"\4"], pa.binary())

    assert parser.parse(messages).to_pylist() == [1, 2]
