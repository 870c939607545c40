"""Avro container files, as fastavro reads them."""

from __future__ import annotations

import datetime
import io
import zlib
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.encoders.avro import CODECS, AvroEncoder
from airflow_kconnect.connectors.directory.encoders.avro_schemas import schema_of_file

_AT = datetime.datetime(2024, 1, 2, 3, 4, 5, 6000, datetime.UTC)
_ROW = pa.struct(
    [
        ("id", pa.int64()), ("small", pa.int8()), ("text", pa.string()), ("raw", pa.binary()), ("is", pa.bool_()),
        ("f", pa.float32()), ("d", pa.float64()), ("price", pa.decimal128(38, 2)), ("day", pa.date32()),
        ("at", pa.timestamp("us", tz="UTC")), ("tags", pa.list_(pa.string())),
        ("inner", pa.struct([("a", pa.int32()), ("b", pa.list_(pa.struct([("x", pa.string())])))])),
        ("by_text", pa.map_(pa.string(), pa.int64())),
        ("by_number", pa.map_(pa.int32(), pa.string())), ("by_flag", pa.map_(pa.bool_(), pa.string())),
    ]
)  # fmt: skip
_VALUES: dict[str, Any] = {
    "id": 1 << 40, "small": -3, "text": "ü", "raw": b"\xff\x00", "is": True, "f": 0.5, "d": -1.25,
    "price": Decimal("-1.50"), "day": datetime.date(2024, 1, 2), "at": _AT, "tags": ["a", None],
    "inner": {"a": 7, "b": [{"x": "y"}, None]}, "by_text": {"k": 5}, "by_number": [(3, "c")], "by_flag": [(True, None)],
}  # fmt: skip
_NOTHING = dict.fromkeys(_VALUES)


def container(rows: pa.Array, compression: str = "none", *, at_once: int = 1_000_000, name: str | None = None) -> bytes:
    file = io.BytesIO()
    encoder = AvroEncoder(file, compression, name)
    for start in range(0, len(rows), at_once):
        encoder.write(rows.slice(start, at_once))
    encoder.finish()
    return file.getvalue()


def records(data: bytes) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(data)))


def numbered(count: int) -> pa.Array:
    texts = pa.array([f"text {n} {'x' * (n % 50)}" for n in range(count)])
    return pa.StructArray.from_arrays([pa.array(range(count), pa.int64()), texts], ["id", "text"])


def test_each_type_is_read_as_it_was_written() -> None:
    found = records(container(pa.array([_VALUES, _NOTHING], _ROW)))
    entries = {"by_number": [{"key": 3, "value": "c"}], "by_flag": [{"key": True, "value": None}]}
    assert found == [_VALUES | entries, _NOTHING]


@pytest.mark.parametrize("compression", [name for name in CODECS if name not in ("snappy", "zstd")])
def test_blocks_are_read_with_each_codec(compression: str) -> None:
    rows = numbered(30_000)
    assert records(container(rows, compression)) == rows.to_pylist()


@pytest.mark.parametrize("compression", ["snappy", "zstd"])
def test_blocks_are_read_with_codecs_that_are_libraries_of_their_own(
    compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, unpack = numbered(30_000), {"snappy": _unsnapped, "zstd": _unzipped}[compression]
    monkeypatch.setitem(
        fastavro._read_py.BLOCK_READERS, CODECS[compression], lambda file: io.BytesIO(unpack(file.read_bytes()))
    )
    assert list(fastavro._read_py.reader(io.BytesIO(container(rows, compression)))) == rows.to_pylist()


def _unsnapped(block: bytes) -> bytes:
    """The block begins with its size, and ends with a checksum."""
    size, shift = 0, 0
    for byte in block:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    data: bytes = pa.Codec("snappy").decompress(block[:-4], size, asbytes=True)
    assert zlib.crc32(data).to_bytes(4, "big") == block[-4:]
    return data


def _unzipped(block: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(block), "zstd").read())


@pytest.mark.parametrize("compression", CODECS)
def test_bytes_do_not_depend_on_how_rows_are_cut_into_batches(compression: str) -> None:
    rows = numbered(30_000)
    assert container(rows, compression, at_once=777) == container(rows, compression)


def test_marker_depends_on_what_is_in_the_file() -> None:
    assert container(numbered(10))[-16:] != container(numbered(11))[-16:]


def test_a_record_gets_the_name_that_is_given() -> None:
    data = container(numbered(1), name="shop.Order")
    schema: Any = fastavro.reader(io.BytesIO(data)).writer_schema
    assert schema["name"] == "shop.Order"


def test_a_name_that_avro_does_not_allow_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(DataError, match=r"field `a\.b` has a name that Avro does not allow: rename it"):
        container(pa.array([{"a.b": 1}]))


def test_a_file_says_which_fields_it_has() -> None:
    schema = schema_of_file(io.BytesIO(container(numbered(1))))
    assert [(each.name, each.schema.type) for each in schema.fields] == [
        ("id", SchemaType.INT64),
        ("text", SchemaType.STRING),
    ]


@pytest.mark.parametrize(
    ("data", "problem"), [(b"PAR1", "does not begin"), (b"Obj\x01\x02\x04a", "ends in its header")]
)
def test_what_is_no_container_file_is_told(data: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        schema_of_file(io.BytesIO(data))
