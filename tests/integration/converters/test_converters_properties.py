"""What is written is read back as it was; hypothesis draws the data, one Spark job each converts them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.converters.base import Converter
from airflow_kconnect.converters.header_codecs import header_codec
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.converters.header_text.values import convert_to_string
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.converters.primitives import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    PrimitiveConverter,
    ShortConverter,
)
from airflow_kconnect.converters.string import StringConverter
from airflow_kconnect.converters.types import primitive_type, spark_type

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DECIMALS = ConnectSchema(SchemaType.BYTES, optional=True, name=DECIMAL, version=1, parameters={"scale": "2"})
RECORD = struct(
    ("flag", BOOLEAN_SCHEMA),
    ("small", ConnectSchema(SchemaType.INT8)),
    ("short", ConnectSchema(SchemaType.INT16)),
    ("int", INT32_SCHEMA),
    ("long", INT64_SCHEMA),
    ("Long", INT64_SCHEMA.as_optional()),
    ("float", ConnectSchema(SchemaType.FLOAT32)),
    ("double", FLOAT64_SCHEMA),
    ("text", OPTIONAL_STRING_SCHEMA),
    ("a.b `c`", OPTIONAL_BYTES_SCHEMA),
    ("amount", DECIMALS),
    ("day", ConnectSchema(SchemaType.INT32, name=DATE, version=1)),
    ("time", ConnectSchema(SchemaType.INT32, name=TIME, version=1)),
    ("at", ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1)),
    ("list", ConnectSchema(SchemaType.ARRAY, value_schema=OPTIONAL_STRING_SCHEMA)),
    ("amounts", ConnectSchema(SchemaType.ARRAY, value_schema=DECIMALS)),
    ("by_name", ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=DECIMALS)),
    ("by_number", ConnectSchema(SchemaType.MAP, key_schema=INT32_SCHEMA, value_schema=OPTIONAL_BYTES_SCHEMA)),
    ("inner", struct(("z", DECIMALS), optional=True)),
    name="all.Types",
)

texts = st.text(st.characters(codec="utf-8"), max_size=12)
decimals = st.none() | st.integers(-(10**38) + 1, 10**38 - 1).map(lambda unscaled: Decimal(f"{unscaled}E-2"))


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


records = st.fixed_dictionaries(
    {
        "flag": st.booleans(),
        "small": integers(8),
        "short": integers(16),
        "int": integers(32),
        "long": integers(64),
        "Long": st.none() | integers(64),
        "float": st.floats(width=32, allow_nan=False),
        "double": st.floats(allow_nan=False),
        "text": st.none() | texts,
        "a.b `c`": st.none() | st.binary(max_size=20),
        "amount": decimals,
        "day": st.dates(date(1, 1, 1), date(9999, 12, 31)),
        "time": st.integers(0, 86_399_999),
        "at": st.integers(-2_208_988_800_000, 4_102_444_799_999).map(lambda ms: EPOCH + timedelta(milliseconds=ms)),
        "list": st.lists(st.none() | texts, max_size=3),
        "amounts": st.lists(decimals, max_size=3),
        "by_name": st.dictionaries(texts, decimals, max_size=3),
        "by_number": st.dictionaries(integers(32), st.none() | st.binary(max_size=5), max_size=3),
        "inner": st.none() | st.fixed_dictionaries({"z": decimals}),
    }
)
NUMBERS: dict[PrimitiveConverter, st.SearchStrategy[Any]] = {
    ShortConverter({}, is_key=False): integers(16),
    IntegerConverter({}, is_key=False): integers(32),
    LongConverter({}, is_key=False): integers(64),
    FloatConverter({}, is_key=False): st.floats(width=32),
    DoubleConverter({}, is_key=False): st.floats(),
}
_SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan]
EXTREMES: dict[PrimitiveConverter, list[Any]] = dict(
    zip(
        NUMBERS,
        [
            *([0, 1, -1, 2**n - 1, -(2**n), 2**n - 2, 255, -256] for n in (15, 31, 63)),
            [*_SPECIAL, 2.0**-149, -(2.0**-126), 2.0**128 - 2.0**104],
            [*_SPECIAL, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308],
        ],
        strict=True,
    )
)
one_job = settings(max_examples=1, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))


def many(values: st.SearchStrategy[Any], least: int, most: int | None = None) -> st.SearchStrategy[list[Any]]:
    """A list that is worth a Spark job: Hypothesis begins with one that has the simplest value throughout."""
    lists = st.lists(values, min_size=least, max_size=most)
    return lists.filter(lambda drawn: any(value != drawn[0] for value in drawn))


def json_converter(**config: str) -> JsonConverter:
    return JsonConverter({key.replace("_", "."): value for key, value in config.items()}, is_key=False)


@pytest.fixture(scope="session")
def there_and_back(spark: SparkSession, staged: Any) -> Callable[[Converter, ConnectSchema, list[Any]], list[Any]]:
    """Encodes values and decodes them again."""

    def convert(converter: Converter, schema: ConnectSchema, values: list[Any]) -> list[Any]:
        return _there_and_back(spark, staged, converter, schema, values)

    return convert


def _there_and_back(
    spark: SparkSession, staged: Any, converter: Converter, schema: ConnectSchema, values: list[Any]
) -> list[Any]:
    """The values after encoding and decoding; what fails gives an error text."""
    column = spark_types.StructField("v", spark_type(schema))
    shape = Shape(schema)
    rows = spark.createDataFrame(
        list(enumerate(values)),
        spark_types.StructType([spark_types.StructField("n", spark_types.IntegerType()), column]),
    )
    encoded = converter.encode(shape, F.col("v"))
    write_error = F.lit(None) if encoded.error is None else encoded.error
    rows = rows.select("n", encoded.bytes.alias("raw"), write_error.cast("string").alias("write_error"))
    rows, decoded = staged(rows, converter, [shape])
    rows = rows.select("n", "write_error", decoded.error.alias("error"), decoded.columns[0].alias("v"))
    found = [row.asDict(recursive=True) for row in sorted(rows.collect(), key=lambda row: row.n)]
    return [row["write_error"] or row["error"] or _plain(row["v"]) for row in found]


def _plain(value: Any) -> Any:
    match value:
        case bytearray():
            return bytes(value)
        case datetime():
            return value.astimezone(UTC)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value


class TestJsonRoundTrip:
    @one_job
    @given(many(records, 40, 60))
    @pytest.mark.parametrize("decimal_format", ["BASE64", "NUMERIC"])
    def test_records(self, there_and_back: Any, decimal_format: str, values: list[Any]) -> None:
        converter = json_converter(decimal_format=decimal_format)
        assert there_and_back(converter, RECORD, values) == values

    @one_job
    @given(many(records, 10, 20))
    def test_bare_payloads_of_a_configured_schema(self, there_and_back: Any, values: list[Any]) -> None:
        from airflow_kconnect.converters.json.schemas import schema_text

        writer, reader = json_converter(schemas_enable="false"), json_converter(schema_content=schema_text(RECORD))
        reader.encode = writer.encode  # type: ignore[method-assign]
        assert there_and_back(reader, RECORD, values) == values


class TestPrimitiveRoundTrips:
    @one_job
    @given(st.data())
    @pytest.mark.parametrize("converter", NUMBERS, ids=lambda converter: converter.name)
    def test_numbers(self, there_and_back: Any, converter: PrimitiveConverter, data: st.DataObject) -> None:
        values = [*EXTREMES[converter], *data.draw(many(st.none() | NUMBERS[converter], 200))]
        found = there_and_back(converter, ConnectSchema(converter.type, optional=True), values)
        assert list(map(repr, found)) == list(map(repr, values))

    def test_booleans(self, there_and_back: Any) -> None:
        values = [True, None, False]
        assert there_and_back(BooleanConverter({}, is_key=False), BOOLEAN_SCHEMA.as_optional(), values) == values

    def test_bytes_are_those_of_single_values(self, spark: SparkSession) -> None:
        values = list(zip(*EXTREMES.values(), strict=True))
        fields = [spark_types.StructField(found.name, primitive_type(found.type)) for found in NUMBERS]
        rows = spark.createDataFrame(values, spark_types.StructType(fields))
        written = [found.encode(Shape(ConnectSchema(found.type)), F.col(found.name)).bytes for found in NUMBERS]
        expected = [
            [header_codec(of).encode(None, value) for of, value in zip(NUMBERS, row, strict=True)] for row in values
        ]
        assert [list(map(bytes, row)) for row in rows.select(*written).collect()] == expected


class TestTextOfHeaders:
    """Java 17 writes some floats with more digits than they need: those here have few. Spark mixes up maps: those here
    have one entry.
    """

    SIMPLE = SimpleHeaderConverter({}, is_key=False)
    FLOATS = st.integers(-4000, 4000).map(lambda n: n / 8)

    @one_job
    @given(many(st.tuples(records, FLOATS, FLOATS), 40, 60))
    def test_columns_have_the_text_of_single_values(self, spark: SparkSession, drawn: list[Any]) -> None:
        values = [
            {name: _one_entry(value) for name, value in record.items()} | {"float": single, "double": double}
            for record, single, double in drawn
        ]
        column = spark_types.StructType([spark_types.StructField("v", spark_type(RECORD))])
        rows = spark.createDataFrame([{"v": value} for value in values], column)
        found = rows.select(self.SIMPLE.encode(Shape(RECORD), F.col("v")).bytes.cast("string")).collect()
        assert [row[0] for row in found] == [convert_to_string(RECORD, value) for value in values]

    def test_columns_that_are_not_structs(self, spark: SparkSession) -> None:
        data: list[tuple[ConnectSchema, list[Any]]] = [
            (OPTIONAL_STRING_SCHEMA, ['a "b"', "", None]),
            (OPTIONAL_BYTES_SCHEMA, [b"ab", b"x" * 60, None]),
            (replace(DECIMALS, parameters={"scale": "7"}), [Decimal("0E-7"), Decimal("-0.0000012"), None]),
            (struct(("d", ConnectSchema(SchemaType.INT32, default=5)), optional=True), [{"d": None}, {"d": 1}, None]),
            (struct(optional=True), [{}, {}, None]),
        ]
        fields = [spark_types.StructField(f"v{n}", spark_type(schema)) for n, (schema, _) in enumerate(data)]
        values = list(zip(*(column for _, column in data), strict=True))
        rows = spark.createDataFrame(values, spark_types.StructType(fields))
        texts = [self.SIMPLE.encode(Shape(schema), F.col(f"v{n}")).bytes for n, (schema, _) in enumerate(data)]
        found = rows.select(*(text.cast("string") for text in texts)).collect()
        expected = [
            [convert_to_string(schema, value) for (schema, _), value in zip(data, row, strict=True)] for row in values
        ]
        assert list(map(list, found)) == expected

    def test_schemaless_data(self, through: Any) -> None:
        texts = [
            *('"a \\"b\\"\\n"', "5", "-0.5", "5.0", "0.00005", "1e21", "true", "null"),
            '{"b":["q\\"\\\\","\\n\\\\n\\t",null,2.5],"a":{}}',
        ]
        answers = through(json_converter(schemas_enable="false"), self.SIMPLE, [text.encode() for text in texts])
        assert [answer.output and answer.output.decode() for answer in answers] == [
            *('a "b"\n', "5", "-0.5", "5.0", "5.0E-5", "1.0E21", "true", None),
            '{"a":{},"b":["q\\"\\\\","\n\\\\n\t",null,2.5]}',
        ]


def _one_entry(value: Any) -> Any:
    return dict(list(value.items())[:1]) if isinstance(value, dict) else value


class TestSchemalessPrimitives:
    """Nothing tells the width of a schemaless number: what fits is written."""

    @pytest.mark.parametrize(
        ("writer", "expected"),
        [
            (BooleanConverter, [b"\x01", None, None, None, None]),
            (ShortConverter, [None, b"\x00\x05", None, None, None]),
            (LongConverter, [None, b"\0\0\0\0\0\0\0\x05", b"\0\0\0\0\0\1\x11\x70", None, None]),
            (DoubleConverter, [None, None, None, b"?\xe0\0\0\0\0\0\0", None]),
        ],
    )
    def test_values(self, through: Any, writer: type[PrimitiveConverter], expected: list[bytes | None]) -> None:
        messages = [b"true", b"5", b"70000", b"0.5", b'"5"', b"null"]
        *answers, null = through(json_converter(schemas_enable="false"), writer({}, is_key=False), messages)
        assert [answer.output for answer in answers] == expected
        assert [answer.error is None for answer in answers] == [value is not None for value in expected]
        assert (null.output, null.error) == (None, None)


class TestAnything:
    """No message makes a Spark job fail."""

    @one_job
    @given(many(st.binary(max_size=30) | texts.map(str.encode), 100, 200))
    def test_garbage_is_an_error_or_data(self, through: Any, values: list[bytes]) -> None:
        for reader in (json_converter(), json_converter(schemas_enable="false"), StringConverter({}, is_key=False)):
            answers = through(reader, StringConverter({}, is_key=False), values)
            assert len(answers) == len(values)

    def test_what_is_not_utf8_becomes_the_replacement_character(self, through: Any) -> None:
        string = StringConverter({}, is_key=False)
        answers = through(string, string, [b"a\xffb", b"\xe2\x82z"])
        assert [answer.output.decode() for answer in answers] == [
            "a\N{REPLACEMENT CHARACTER}b",
            "\N{REPLACEMENT CHARACTER}z",
        ]


class TestShapes:
    """Several schemas in one topic, in all the forms in which JSON can be written."""

    MESSAGES = (
        b'{"schema":{"type":"string","optional":true},"payload":"a"}',
        b'{"schema":{"type":"int64","optional":false},"payload":1}',
        b'{"schema":null,"payload":{"a":1}}',
        b'{"payload": "b", "schema": {"optional": true, "type": "string"}}',
        b'{ "schema" : {"type":"int64"}, "payload" : 2 }\n',
        b'{"schema":null,"payload":null}',
        None,
    )

    def test_each_message_has_the_tag_of_its_shape(self, through: Any) -> None:
        answers = through(json_converter(), StringConverter({}, is_key=False), self.MESSAGES)
        assert [answer.error for answer in answers] == [None] * 7
        assert [answer.tag for answer in answers] == [0, 1, 2, 0, 1, None, None]
        assert [answer.output for answer in answers] == [b"a", b"1", b"{a=1}", b"b", b"2", None, None]

    def test_other_forms_of_known_schemas_need_no_samples(self, spark: SparkSession, staged: Any) -> None:
        shapes = [Shape(OPTIONAL_STRING_SCHEMA), Shape(INT64_SCHEMA)]
        rows = spark.createDataFrame([(m,) for m in self.MESSAGES[:4]], "raw binary")
        rows, decoded = staged(rows, json_converter(), shapes)
        found = rows.select(decoded.tag.alias("tag"), *decoded.columns, decoded.error.alias("error")).collect()
        assert [tuple(row) for row in found] == [
            (0, "a", None, None),
            (1, None, 1, None),
            (-1, None, None, None),
            (0, "b", None, None),
        ]

    def test_unknown_shapes_are_known_after_a_look_at_them(self, spark: SparkSession, staged: Any) -> None:
        converter = json_converter()
        odd = json.dumps({"schema": {"optional": False, "default": 1.0, "type": "double"}, "payload": 2.5}).encode()
        rows = spark.createDataFrame([(odd,)], "raw binary")
        shapes = converter.shapes_of([odd])
        rows, decoded = staged(rows, converter, shapes)
        assert tuple(rows.select(decoded.tag, *decoded.columns, decoded.error).first()) == (0, 2.5, None)

    def test_no_shape_at_all(self, spark: SparkSession, staged: Any) -> None:
        rows = spark.createDataFrame([(None,), (b"{",), (self.MESSAGES[0],)], "raw binary")
        rows, decoded = staged(rows, json_converter(), [])
        found = rows.select(decoded.tag.alias("tag"), decoded.error.isNull().alias("fine")).collect()
        assert [tuple(row) for row in found] == [(None, True), (None, False), (-1, True)]
