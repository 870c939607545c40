"""Messages as Arrow columns, where each has the same schema."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.converters.base import BatchParser, new_converter
from airflow_kconnect.converters.byte_array import ByteArrayConverter
from airflow_kconnect.converters.primitives import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from airflow_kconnect.converters.same_schema import OneShapeConverter
from airflow_kconnect.converters.string import StringConverter
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.runtime.conversion.decoding import PartDecoder


def _parser(kind: type[OneShapeConverter]) -> BatchParser:
    converter = new_converter(kind.java_name(), {}, {})
    return converter.plain_parsers(converter.shapes_of([]))[0]


def _parsed(kind: type[OneShapeConverter], *messages: bytes | None) -> list[Any]:
    # A slice: its first row is not the first in memory.
    column = pa.array([b"before", *messages], pa.binary()).slice(1)
    values: list[Any] = _parser(kind).parse(column).to_pylist()
    return values


@pytest.mark.parametrize(
    ("kind", "messages", "values"),
    [
        (StringConverter, [b"a", None, b"", "ü".encode()], ["a", None, "", "ü"]),
        (ByteArrayConverter, [b"\xff", None, b""], [b"\xff", None, b""]),
        (BooleanConverter, [b"\x01", None, b"\x00"], [True, None, False]),
        (ShortConverter, [b"\xff\xfe", None], [-2, None]),
        (IntegerConverter, [b"\x80\0\0\0", None, b"\0\0\0\x01"], [-(2**31), None, 1]),
        (LongConverter, [(2**63 - 1).to_bytes(8), None], [2**63 - 1, None]),
        (FloatConverter, [struct.pack(">f", 1.5), None], [1.5, None]),
        (DoubleConverter, [struct.pack(">d", -0.1), None], [-0.1, None]),
        (DoubleConverter, [None, None], [None, None]),
    ],
)
def test_values(kind: type[OneShapeConverter], messages: list[bytes | None], values: list[Any]) -> None:
    assert _parsed(kind, *messages) == values


@pytest.mark.parametrize(
    ("kind", "messages"),
    [
        (StringConverter, [b"a", b"\xff"]),
        (BooleanConverter, [b"\x01", b"\x02"]),
        (BooleanConverter, [b"\x01", b""]),
        (IntegerConverter, [b"\0\0\0\x01", b"\0\0\0\0\x01"]),
        (IntegerConverter, [b"\0\0\0\0\x01", b"\0\0\0"]),
    ],
)
def test_a_batch_with_a_wrong_message_is_left_alone(kind: type[OneShapeConverter], messages: list[bytes]) -> None:
    assert _parsed(kind, *messages) == [None, None]


@pytest.mark.parametrize(
    "kind", [StringConverter, ByteArrayConverter, BooleanConverter, ShortConverter, FloatConverter]
)
def test_columns_have_the_types_of_their_schemas(kind: type[OneShapeConverter]) -> None:
    assert _parser(kind).type == arrow_type(kind.shape.schema)


def test_a_converter_that_reads_in_its_own_way_does_not_use_the_parser_it_inherits() -> None:
    class Own(StringConverter):
        @classmethod
        def java_name(cls) -> str:
            return "example.Own"

        def read(self, raw: Any) -> tuple[Any, Any]:
            return raw, None

    assert PartDecoder("value", Own({}, is_key=False)).plain_parsers == {}


@pytest.mark.parametrize("kind", [StringConverter, ByteArrayConverter, BooleanConverter, LongConverter])
def test_decoders_use_the_parsers(kind: type[OneShapeConverter]) -> None:
    assert PartDecoder("value", new_converter(kind.java_name(), {}, {})).plain_parsers.keys() == {"value_parsed_0"}
