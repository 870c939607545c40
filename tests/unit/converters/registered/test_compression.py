"""Compressed payloads: each has its data, or its own error."""

from __future__ import annotations

import zlib
from uuid import UUID

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import INT64_SCHEMA, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered import compression
from airflow_kconnect.converters.registered.compression import Inflating, deflated, inflated, inflated_messages
from tests.support.glue import framed

FORM = AvroFormat(AvroFormat.config().parse({}))
LONGS = Inflating(FORM.decoder(FORM.schema_of(Shape(INT64_SCHEMA)), b""))


def test_a_payload_is_compressed_as_zlib_does_and_null_stays() -> None:
    written = deflated(pa.array([b"payload", None], pa.binary())).to_pylist()

    assert (zlib.decompress(written[0]), written[1]) == (b"payload", None)


def test_payloads_are_decoded() -> None:
    data, errors = LONGS.decode(pa.array([zlib.compress(b"\2"), zlib.compress(b"\4")], pa.binary()))

    assert (data.to_pylist(), errors) == ([1, 2], None)


def test_each_bad_payload_has_its_error_and_the_others_their_data() -> None:
    whole = zlib.compress(b"\2")
    data, errors = LONGS.decode(pa.array([whole, b"no zlib", whole[:-1], zlib.compress(b""), whole], pa.binary()))

    assert errors is not None
    texts = [text and text.partition(":")[0] for text in errors.to_pylist()]
    assert data.to_pylist() == [1, None, None, None, 1]
    assert texts[:3] == [None, *["The payload cannot be decompressed"] * 2]
    assert texts[3] is not None
    assert texts[4] is None


def test_a_batch_may_have_bad_payloads_only() -> None:
    data, errors = LONGS.decode(pa.array([b"", b"x"], pa.binary()))

    assert errors is not None
    assert (data.null_count, errors.null_count) == (2, 0)


def test_a_payload_that_grows_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "_LONGEST", 2**20)

    with pytest.raises(DataError, match="more than 1 MiB"):
        inflated(zlib.compress(bytes(2**20 + 1)))


def test_messages_are_decompressed_where_they_are_compressed() -> None:
    plain, packed = (framed(UUID(int=7), b"payload", compressed=compressed) for compressed in (False, True))
    others = [packed[:-1], packed[:9], b"\3\5", b"other"]

    messages = inflated_messages(pa.array([packed, None, plain, *others], pa.binary()))

    assert messages.to_pylist() == [plain, None, plain, *others]
