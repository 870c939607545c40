"""Messages of a batch: each topic has its id, null data are tombstones, rejected ones are errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from uuid import UUID

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import INT64_SCHEMA, ConnectSchema, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered.desk import Desk
from airflow_kconnect.converters.registered.writing import MessageWriter
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import GUID, ID

FORM = AvroFormat(AvroFormat.config().parse({}))
RECORD = struct(("id", INT64_SCHEMA), name="R")
IDS = {"a": 1, "b": 2}
ASKED: list[str] = []


def _resolve(shape: int, topic: str) -> tuple[bytes, RegisteredSchema]:
    ASKED.append(topic)
    if topic not in IDS:
        raise DataError(f"{topic} is rejected")
    return ID.prefix(IDS[topic]), FORM.schema_of(Shape(RECORD))


@pytest.fixture
def desk() -> Iterator[Desk]:
    ASKED.clear()
    made = Desk("127.0.0.1", _resolve)
    yield made
    made.close()


@pytest.fixture
def desk_with_guids() -> Iterator[Desk]:
    def resolve(shape: int, topic: str) -> tuple[bytes, RegisteredSchema]:
        return GUID.prefix(UUID(int=IDS[topic])), _resolve(shape, topic)[1]

    made = Desk("127.0.0.1", resolve)
    yield made
    made.close()


def _writer(desk: Desk, schema: ConnectSchema = RECORD) -> MessageWriter:
    shape = Shape(schema)
    own = FORM.schema_of(shape)
    writer = MessageWriter(desk.address, 0, shape, FORM, (own, FORM.encoder(own, shape)))
    unpickled: MessageWriter = pickle.loads(pickle.dumps(writer))  # noqa: S301
    return unpickled


def _data(*ids: int | None) -> pa.Array:
    rows = [None if number is None else {"id": number} for number in ids]
    return pa.array(rows, pa.struct([("id", pa.int64())]))


def test_each_record_has_the_id_of_its_topic(desk: Desk) -> None:
    messages, errors = _writer(desk).messages(_data(1, 2, 3), pa.array(["a", "b", "a"]))

    assert messages.to_pylist() == [b"\0\0\0\0\1\2", b"\0\0\0\0\2\4", b"\0\0\0\0\1\6"]
    assert errors.null_count == 3


def test_a_topic_is_asked_for_once(desk: Desk) -> None:
    writer = _writer(desk)
    for _ in range(3):
        writer.messages(_data(1, 2), "a")

    assert ASKED == ["a"]


def test_without_data_nothing_is_asked(desk: Desk) -> None:
    _writer(desk).messages(_data(None, None), pa.array(["a", "b"]))

    assert ASKED == []


def test_null_data_of_an_optional_schema_are_tombstones(desk: Desk) -> None:
    messages, errors = _writer(desk, RECORD.as_optional()).messages(_data(1, None), "a")

    assert (messages.to_pylist()[1], errors.to_pylist()[1]) == (None, None)


def test_null_data_of_another_schema_are_errors(desk: Desk) -> None:
    _, errors = _writer(desk).messages(_data(1, None), pa.array(["a", "a"]))

    assert errors.to_pylist() == [None, "Invalid value: null used for required value"]


def test_a_record_without_topic_is_an_error_and_registers_nothing(desk: Desk) -> None:
    messages, errors = _writer(desk).messages(_data(1, 2, 3), pa.array(["a", None, "b"]))

    assert (ASKED, messages.to_pylist()[1]) == (["a", "b"], None)
    assert [error and error[:23] for error in errors.to_pylist()] == [None, "The record has no topic", None]


def test_records_of_a_rejected_topic_are_errors_and_others_are_not(desk: Desk) -> None:
    messages, errors = _writer(desk).messages(_data(1, 2, 3), pa.array(["a", "no", "a"]))

    assert errors.to_pylist() == [None, "no is rejected", None]
    assert messages.to_pylist()[1] is None


def test_guids_are_apart_from_payloads(desk_with_guids: Desk) -> None:
    writer = _writer(desk_with_guids, RECORD.as_optional())

    payloads, names = writer.split(writer.messages(_data(1, None, 3), pa.array(["a", "a", "b"]))[0])

    assert payloads.to_pylist() == [b"\2", None, b"\6"]
    assert names.to_pylist() == [GUID.prefix(UUID(int=1)), None, GUID.prefix(UUID(int=2))]
