"""What converters do to the value of a single header, beyond the golden file of converters."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import (
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.base import Encoded, new_converter
from airflow_kconnect.converters.header_codecs import HeaderCodec, header_codec
from airflow_kconnect.converters.header_text.literals import FLOAT32_SCHEMA
from airflow_kconnect.converters.same_schema import OneShapeConverter
from tests.unit.converters.header_text.test_values import CLOCK, INSTANT, RECORD, decimal, list_of, map_of

OPTIONAL_INT32 = INT32_SCHEMA.as_optional()
WITH_DEFAULT = ConnectSchema(SchemaType.INT32, default=5)


def codec(name: str, **config: str) -> HeaderCodec:
    props = {f"header.converter.{key.replace('_', '.')}": value for key, value in config.items()}
    return header_codec(new_converter(name, props, {}, role="header"))


SIMPLE = codec("SimpleHeaderConverter")
TEXT = codec("StringConverter")
RAW = codec("ByteArrayConverter")
JSON = codec("JsonConverter")
PLAIN_JSON = codec("JsonConverter", schemas_enable="false")
PRIMITIVES = {
    SchemaType.BOOLEAN: (codec("BooleanConverter"), True, b"\x01"),
    SchemaType.INT16: (codec("ShortConverter"), -2, b"\xff\xfe"),
    SchemaType.INT32: (codec("IntegerConverter"), 7, b"\0\0\0\x07"),
    SchemaType.INT64: (codec("LongConverter"), -1, b"\xff" * 8),
    SchemaType.FLOAT32: (codec("FloatConverter"), 0.5, b"?\0\0\0"),
    SchemaType.FLOAT64: (codec("DoubleConverter"), -0.5, b"\xbf\xe0\0\0\0\0\0\0"),
}
ALL: dict[str | SchemaType, HeaderCodec] = {
    "simple": SIMPLE,
    "text": TEXT,
    "raw": RAW,
    "json": JSON,
    **{k: v[0] for k, v in PRIMITIVES.items()},
}


class TestAll:
    @pytest.mark.parametrize("name", ALL)
    def test_null_is_null(self, name: str) -> None:
        assert ALL[name].decode(None)[1] is None
        assert ALL[name].encode(None, None) is None

    @pytest.mark.parametrize("name", ALL)
    def test_goes_to_tasks_in_other_processes(self, name: str) -> None:
        assert pickle.loads(pickle.dumps(ALL[name])) == ALL[name]  # noqa: S301

    def test_a_converter_that_knows_columns_only_is_refused(self) -> None:
        class Own(OneShapeConverter):
            def encode(self, shape: Shape, column: Any) -> Encoded:
                raise NotImplementedError

            def read(self, raw: Any) -> Any:
                raise NotImplementedError

        with pytest.raises(ConfigError, match="Own cannot convert headers"):
            header_codec(Own({}, is_key=False))

    def test_simple_headers_are_for_headers_only(self) -> None:
        with pytest.raises(ConfigError, match=r"`value.converter.converter.type`: Invalid value value"):
            new_converter("SimpleHeaderConverter", {}, {})


class TestSimple:
    def test_what_is_not_utf8_becomes_the_replacement_character(self) -> None:
        assert SIMPLE.decode(b"a\xff") == (STRING_SCHEMA, "a\N{REPLACEMENT CHARACTER}")

    def test_empty_is_an_empty_string(self) -> None:
        assert SIMPLE.decode(b"") == (STRING_SCHEMA, "")

    def test_what_is_nested_too_deeply_stays_bytes(self) -> None:
        assert SIMPLE.decode(b"[" * 100_000) == (BYTES_SCHEMA, b"[" * 100_000)

    def test_types_come_from_the_text(self) -> None:
        assert SIMPLE.decode(b"[1,2]") == (list_of(ConnectSchema(SchemaType.INT8)), [1, 2])

    def test_text(self) -> None:
        assert SIMPLE.encode(list_of(STRING_SCHEMA), ["\N{SNOWMAN}"]) == '["\N{SNOWMAN}"]'.encode()


class TestString:
    def test_everything_is_a_string(self) -> None:
        assert TEXT.decode(b"5\xff") == (OPTIONAL_STRING_SCHEMA, "5\N{REPLACEMENT CHARACTER}")

    @pytest.mark.parametrize(
        ("schema", "value", "text"),
        [
            (STRING_SCHEMA, "", ""),
            (None, 5, "5"),
            (None, True, "true"),
            (FLOAT32_SCHEMA, 0.10000000149011612, "0.1"),
            (decimal(1), Decimal("1.5"), "1.5"),
            (DATE_SCHEMA, date(1971, 2, 5), "Fri Feb 05 00:00:00 UTC 1971"),
            (TIME_SCHEMA, CLOCK, "Thu Jan 01 01:02:03 UTC 1970"),
            (TIMESTAMP_SCHEMA, INSTANT, "Thu Jan 02 03:04:05 UTC 2020"),
            (None, [1, "", None, 1.5], "[1, , null, 1.5]"),
            (None, {"a": 1, "b": {}}, "{a=1, b={}}"),
            (list_of(FLOAT32_SCHEMA), [0.10000000149011612], "[0.1]"),
            (map_of(STRING_SCHEMA, DATE_SCHEMA), {"x": date(1970, 1, 1)}, "{x=Thu Jan 01 00:00:00 UTC 1970}"),
            (RECORD, {"a": 1, 'b"': "t"}, 'Struct{a=1,b"=t}'),
        ],
    )
    def test_java_text(self, schema: ConnectSchema | None, value: Any, text: str) -> None:
        assert TEXT.encode(schema, value) == text.encode()


class TestByteArray:
    def test_bytes_pass(self) -> None:
        assert RAW.decode(b"\xff") == (OPTIONAL_BYTES_SCHEMA, b"\xff")
        assert RAW.encode(BYTES_SCHEMA, b"\xff") == b"\xff"

    @pytest.mark.parametrize(
        ("schema", "value"), [(STRING_SCHEMA, None), (None, "x"), (decimal(1), Decimal(1))], ids=str
    )
    def test_nothing_else_does(self, schema: ConnectSchema | None, value: Any) -> None:
        with pytest.raises(DataError, match="ByteArrayConverter"):
            RAW.encode(schema, value)


class TestPrimitives:
    @pytest.mark.parametrize("type_", PRIMITIVES)
    def test_there_and_back(self, type_: SchemaType) -> None:
        primitive, value, raw = PRIMITIVES[type_]
        assert primitive.encode(ConnectSchema(type_), value) == primitive.encode(None, value) == raw
        assert primitive.decode(raw) == (ConnectSchema(type_, optional=True), value)

    @pytest.mark.parametrize("type_", PRIMITIVES)
    @pytest.mark.parametrize(
        ("schema", "value"),
        [(STRING_SCHEMA, "x"), (None, "x"), (DATE_SCHEMA, date(1970, 1, 1)), (decimal(0), Decimal(1))],
        ids=str,
    )
    def test_wrong_values(self, type_: SchemaType, schema: ConnectSchema | None, value: Any) -> None:
        with pytest.raises(DataError, match="Failed to serialize"):
            PRIMITIVES[type_][0].encode(schema, value)

    @pytest.mark.parametrize(
        ("type_", "value"),
        [(SchemaType.INT16, 2**15), (SchemaType.INT32, True), (SchemaType.BOOLEAN, 1), (SchemaType.FLOAT32, 1e39)],
    )
    def test_values_that_do_not_fit(self, type_: SchemaType, value: Any) -> None:
        with pytest.raises(DataError, match="Failed to serialize"):
            PRIMITIVES[type_][0].encode(None, value)


def enveloped(schema: str, payload: str) -> bytes:
    return f'{{"schema":{schema},"payload":{payload}}}'.encode()


class TestJson:
    @pytest.mark.parametrize(
        ("schema", "value", "schema_text", "payload"),
        [
            (None, {1: "x"}, "null", '[[1,"x"]]'),
            (None, b"\x01\x02", "null", '"AQI="'),
            (FLOAT64_SCHEMA, math.nan, '{"type":"double","optional":false}', '"NaN"'),
            (FLOAT64_SCHEMA, 1e39, '{"type":"double","optional":false}', "1.0E39"),
            (
                map_of(INT32_SCHEMA, STRING_SCHEMA),
                {1: "x"},
                '{"type":"map","keys":{"type":"int32","optional":false},"values":{"type":"string","optional":false},'
                '"optional":false}',
                '[[1,"x"]]',
            ),
            (
                struct(("a", INT32_SCHEMA), ("d", WITH_DEFAULT), ("x", OPTIONAL_BYTES_SCHEMA)),
                {"a": 1},
                '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"a"},'
                '{"type":"int32","optional":false,"default":5,"field":"d"},'
                '{"type":"bytes","optional":true,"field":"x"}],"optional":false}',
                '{"a":1,"d":5,"x":null}',
            ),
        ],
    )
    def test_written(self, schema: ConnectSchema | None, value: Any, schema_text: str, payload: str) -> None:
        assert JSON.encode(schema, value) == enveloped(schema_text, payload)
        assert PLAIN_JSON.encode(schema, value) == payload.encode()

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            (INT32_SCHEMA, None),
            (list_of(INT32_SCHEMA), [None]),
            (map_of(STRING_SCHEMA, INT32_SCHEMA), {"a": None}),
            (struct(("a", INT32_SCHEMA)), {}),
            (None, date(1970, 1, 1)),
            (None, [Decimal(1)]),
            (decimal(-1), Decimal(10)),
            (list_of(INT32_SCHEMA), 5),
        ],
        ids=str,
    )
    def test_not_writable(self, schema: ConnectSchema | None, value: Any) -> None:
        for json_codec in (JSON, PLAIN_JSON):
            with pytest.raises(DataError):
                json_codec.encode(schema, value)

    def test_decimals_as_numbers(self) -> None:
        json_codec = codec("Json", schemas_enable="false", decimal_format="numeric")
        assert json_codec.encode(decimal(2), Decimal("3.05")) == b"3.05"
        assert json_codec.encode(decimal(0), Decimal(21518)) == b"21518"
        assert json_codec.encode(decimal(2), Decimal("3.00")) == b"3.00"
        assert json_codec.encode(decimal(9), Decimal("0.000000001")) == b"1E-9"

    @pytest.mark.parametrize(("raw", "value"), [(b"", None), (b" ", None), (b"null", None), (b'{"a":5}', {"a": 5})])
    def test_read_without_schemas(self, raw: bytes, value: Any) -> None:
        assert PLAIN_JSON.decode(raw) == (None, value)

    @pytest.mark.parametrize("raw", [b"NaN", b"[1", b"1 2", b"[" * 100_000])
    def test_not_readable_without_schemas(self, raw: bytes) -> None:
        with pytest.raises(DataError, match="serialization error"):
            PLAIN_JSON.decode(raw)

    def test_numbers_may_begin_with_zeros(self) -> None:
        assert PLAIN_JSON.decode(b'{"a":[-007,00.5,"08"]}') == (None, {"a": [-7, 0.5, "08"]})
        assert JSON.decode(enveloped('{"type":"int32","version":01}', "007"))[1] == 7

    def test_a_whole_number_may_have_a_fraction_for_a_date_too(self) -> None:
        date_schema = '{"type":"int32","name":"org.apache.kafka.connect.data.Date","version":1}'
        assert JSON.decode(enveloped(date_schema, "1.0"))[1] == date(1970, 1, 2)

    def test_a_time_of_a_day_and_more_is_not_written(self) -> None:
        schema, value = SIMPLE.decode(b"25:00:00.000Z")
        with pytest.raises(DataError, match="Kafka Connect Time type should not have any date fields"):
            JSON.encode(schema, value)

    def test_read_with_a_configured_schema(self) -> None:
        assert codec("Json", schema_content='{"type":"int64"}').decode(b"5") == (INT64_SCHEMA, 5)

    def test_times_before_1970(self) -> None:
        timestamp = '{"type":"int64","name":"org.apache.kafka.connect.data.Timestamp","version":1}'
        before = datetime(1969, 12, 31, 23, 59, 59, 995_000, UTC)
        assert JSON.decode(enveloped(timestamp, "-5")) == (TIMESTAMP_SCHEMA, before)
