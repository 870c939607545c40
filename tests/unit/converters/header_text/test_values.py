"""Text of header values, against the answers of ``org.apache.kafka.connect.data.Values`` of Kafka 4.3.0."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    DECIMAL,
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
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.header_text.literals import FLOAT32_SCHEMA
from airflow_kconnect.converters.header_text.values import convert_to_string, parse_string

INT8 = ConnectSchema(SchemaType.INT8)
INT16 = ConnectSchema(SchemaType.INT16)
DAY = date(2020, 1, 2)
CLOCK = 3_723_004
INSTANT = datetime(2020, 1, 2, 3, 4, 5, 678_000, UTC)


def list_of(items: ConnectSchema | None) -> ConnectSchema:
    return ConnectSchema(SchemaType.ARRAY, value_schema=items)


def map_of(keys: ConnectSchema | None, values: ConnectSchema | None) -> ConnectSchema:
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values)


def decimal(scale: int) -> ConnectSchema:
    return ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": str(scale)})


SCALARS = [
    ("null", None, None),
    (" null ", None, None),
    ("true", BOOLEAN_SCHEMA, True),
    (" false ", BOOLEAN_SCHEMA, False),
    ("1", INT8, 1),
    ("+1", INT8, 1),
    ("-0", INT8, 0),
    ("007", INT8, 7),
    (" 42 ", INT8, 42),
    ("\u0664\u0662", INT8, 42),
    ("5.0", INT8, 5),
    ("1.", INT8, 1),
    ("-0.0", INT8, 0),
    ("0e5", INT8, 0),
    ("127", INT8, 127),
    ("128", INT16, 128),
    ("-129", INT16, -129),
    ("1e3", INT16, 1000),
    ("32768", INT32_SCHEMA, 32768),
    ("2147483648", INT64_SCHEMA, 2**31),
    ("9223372036854775807", INT64_SCHEMA, 2**63 - 1),
    ("9223372036854775808", decimal(0), Decimal(2**63)),
    ("100000000000000000000", decimal(0), Decimal(10**20)),
    ("1e19", FLOAT32_SCHEMA, 1e19),
    ("1e20", FLOAT32_SCHEMA, 1e20),
    ("0.1", FLOAT32_SCHEMA, 0.1),
    ("+.5", FLOAT32_SCHEMA, 0.5),
    ("0.123456789", FLOAT32_SCHEMA, 0.12345679),
    ("12345678901234567890.5", FLOAT32_SCHEMA, 1.2345679e19),
    ("1e-400", FLOAT32_SCHEMA, 0.0),
    ("123456789.5", FLOAT32_SCHEMA, 123456790.0),
    ("3.4028235e38", FLOAT32_SCHEMA, 3.4028235e38),
    ("1e39", FLOAT64_SCHEMA, 1e39),
    ("1e400", decimal(-400), Decimal("1E+400")),
    ("-1e9999999", decimal(-9999999), Decimal("-1E+9999999")),
]

TEMPORALS = [
    ("2020-01-02", DATE_SCHEMA, DAY),
    ("1969-12-31", DATE_SCHEMA, date(1969, 12, 31)),
    ("2020-13-45", DATE_SCHEMA, date(2021, 2, 14)),
    ("2020- 1-2x", DATE_SCHEMA, DAY),
    ("01:02:03.004Z", TIME_SCHEMA, CLOCK),
    ("1:02:03.0004Z", TIME_SCHEMA, CLOCK),
    (r"01\:02\:03.004Z", TIME_SCHEMA, CLOCK),
    ("99:99:99.999Z", TIME_SCHEMA, 362_439_999),
    ("2020-01-02T03:04:05.678Z", TIMESTAMP_SCHEMA, INSTANT),
]

# Only the first of the parts between delimiters counts, if it is a number.
ONLY_THE_FIRST_TOKEN = [
    ("1,2,3", INT8, 1),
    ("10:15", INT8, 10),
    ("10:15:30", INT8, 10),
    ("1}", INT8, 1),
    ("[1] x", list_of(INT8), [1]),
    ('{"a":1}x', map_of(STRING_SCHEMA, INT8), {"a": 1}),
    ("  [1", STRING_SCHEMA, "  "),
]

CONTAINERS = [
    ("[]", list_of(None), []),
    ("[ ]", list_of(None), []),
    ("[null]", list_of(None), [None]),
    ("[1,2]", list_of(INT8), [1, 2]),
    ("[1, 2 ,]", list_of(INT8), [1, 2]),
    ("[1,300]", list_of(INT16), [1, 300]),
    ("[300,1]", list_of(INT16), [300, 1]),
    ("[1,0.5]", list_of(FLOAT32_SCHEMA), [1.0, 0.5]),
    ("[0.1,1e39]", list_of(FLOAT64_SCHEMA), [0.10000000149011612, 1e39]),
    ("[1,1e39]", list_of(FLOAT64_SCHEMA), [1.0, 1e39]),
    ("[9223372036854775807,1.5]", list_of(FLOAT32_SCHEMA), [9.223372e18, 1.5]),
    ("[1,100000000000000000000]", list_of(None), [1, Decimal(10**20)]),
    ("[true,1]", list_of(None), [True, 1]),
    ('[1,"a"]', list_of(None), [1, "a"]),
    ('["a","b"]', list_of(STRING_SCHEMA), ["a", "b"]),
    ('["a,b"]', list_of(STRING_SCHEMA), ["a,b"]),
    ('["true"]', list_of(STRING_SCHEMA), ["true"]),
    (r'["a\"b"]', list_of(STRING_SCHEMA), [r"a\"b"]),
    ('[ " x " ]', list_of(STRING_SCHEMA), [" x "]),
    ('[""]', list_of(STRING_SCHEMA), [""]),
    ('["2020-01-02"]', list_of(DATE_SCHEMA), [DAY]),
    ("[01:02:03.004Z]", list_of(TIME_SCHEMA), [CLOCK]),
    ('[1,"2020-01-02"]', list_of(DATE_SCHEMA), [date(1970, 1, 2), DAY]),
    ('["2020-01-02T03:04:05.678Z",7]', list_of(TIMESTAMP_SCHEMA), [INSTANT, datetime(1970, 1, 1, 0, 0, 0, 7000, UTC)]),
    ("[[1],[300]]", list_of(list_of(INT16)), [[1], [300]]),
    ("{}", map_of(None, None), {}),
    ('{"a":null}', map_of(STRING_SCHEMA, None), {"a": None}),
    ('{ "a" : 1 , "b" : 300 }', map_of(STRING_SCHEMA, INT16), {"a": 1, "b": 300}),
    ('{"a":1 "b":2}', map_of(STRING_SCHEMA, INT8), {"a": 1, "b": 2}),
    ('{"a":1,"a":2}', map_of(STRING_SCHEMA, INT8), {"a": 2}),
    ("{1:2,300:4}", map_of(INT16, INT8), {1: 2, 300: 4}),
    ('{"a":1,2:3}', map_of(None, None), {"a": 1, 2: 3}),
    ('{"a":2020-01-02T03:04:05.678Z}', map_of(STRING_SCHEMA, TIMESTAMP_SCHEMA), {"a": INSTANT}),
]

TEXTS = [
    *("", "   ", "abc", "a:b", "null x", "true}", "True", "NaN", "Infinity", "-Infinity", "+", "+-1", ":", '"'),
    *("42 apples", "4 2", ".5", "5f", "1_000", "0x10", "1e", "2020-1-2", '"quoted"', '"2020-01-02"'),
    *("[a,b]", "[1", '["a', "[1,,2]", "[1 2]", '["a" "b"]', "[1,null]", '["2020-01-02",70000]', "[2020-01-02,0.5]"),
    *("{a:1}", "{null:1}", '{"a":1', '{"a"}', '{,"a":1}', '{"a":1,"b":null}', '{"a":[b]}'),
]


@pytest.mark.parametrize(
    ("text", "schema", "value"), [*SCALARS, *TEMPORALS, *ONLY_THE_FIRST_TOKEN, *CONTAINERS], ids=lambda part: str(part)
)
def test_text_with_a_type(text: str, schema: ConnectSchema | None, value: Any) -> None:
    parsed = parse_string(text)
    assert parsed == (schema, value)
    assert type(parsed[1]) is type(value)


@pytest.mark.parametrize("text", TEXTS)
def test_any_other_text_is_a_string(text: str) -> None:
    assert parse_string(text) == (STRING_SCHEMA, text)


@pytest.mark.parametrize("text", ["0000-00-00", "9999-12-36", "{[1]:2}", "[[99999-12-1],2]"])
def test_what_python_has_no_value_for_stays_text(text: str) -> None:
    assert parse_string(text) == (STRING_SCHEMA, text)


RECORD = struct(
    ("a", INT32_SCHEMA),
    ('b"', OPTIONAL_STRING_SCHEMA),
    ("d", ConnectSchema(SchemaType.INT32, optional=True, default=5)),
    ("x", OPTIONAL_BYTES_SCHEMA),
)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (None, None, None),
        (STRING_SCHEMA, 'as "it" is\\', 'as "it" is\\'),
        (BOOLEAN_SCHEMA, True, "true"),
        (INT32_SCHEMA, -5, "-5"),
        (FLOAT32_SCHEMA, 0.10000000149011612, "0.1"),
        (FLOAT32_SCHEMA, 1e39, "Infinity"),
        (FLOAT32_SCHEMA, math.nan, "NaN"),
        (FLOAT64_SCHEMA, 0.10000000149011612, "0.10000000149011612"),
        (FLOAT64_SCHEMA, 1, "1.0"),
        (FLOAT64_SCHEMA, 1e39, "1.0E39"),
        (FLOAT64_SCHEMA, math.nan, "NaN"),
        (FLOAT64_SCHEMA, -math.inf, "-Infinity"),
        (BYTES_SCHEMA, b"\x01\x02", "AQI="),
        (decimal(7), Decimal("0.0000001"), "1E-7"),
        (decimal(7), Decimal("0E-7"), "0E-7"),
        (decimal(2), Decimal("1.50"), "1.50"),
        (DATE_SCHEMA, date(1971, 2, 5), "1971-02-05"),
        (DATE_SCHEMA, date(1970, 1, 2), "1970-01-02"),
        (DATE_SCHEMA, date(1970, 1, 1), "00:00:00.000Z"),
        (DATE_SCHEMA, date(1969, 12, 31), "00:00:00.000Z"),
        (TIME_SCHEMA, 5, "00:00:00.005Z"),
        (TIME_SCHEMA, 362_439_999, "1970-01-05T04:40:39.999Z"),
        (TIMESTAMP_SCHEMA, INSTANT, "2020-01-02T03:04:05.678Z"),
        (TIMESTAMP_SCHEMA, datetime(1970, 1, 2, tzinfo=UTC), "1970-01-02"),
        (TIMESTAMP_SCHEMA, datetime(1969, 12, 31, 23, 59, 59, 995_000, UTC), "23:59:59.995Z"),
        (None, DAY, "2020-01-02"),
        (None, [1, "a", None, 1.5, True, b"\x01"], '[1,"a",null,1.5,true,"AQ=="]'),
        (None, {"a": ['q"\\\n'], 1: {}}, '{"a":["q\\"\\\\\n"],1:{}}'),
        (list_of(DATE_SCHEMA), [DAY], "[2020-01-02]"),
        (list_of(FLOAT32_SCHEMA), [0.10000000149011612], "[0.1]"),
        (map_of(INT32_SCHEMA, TIME_SCHEMA), {1: 5}, "{1:00:00:00.005Z}"),
        (RECORD, {"a": 1, 'b"': 'q"\\\n'}, '{"a":1,"b\\"":"q\\"\\\\\n","d":5,"x":null}'),
    ],
)
def test_text_of_a_value(schema: ConnectSchema | None, value: Any, text: str | None) -> None:
    assert convert_to_string(schema, value) == text


def test_a_value_of_another_kind_has_no_text() -> None:
    with pytest.raises(DataError, match="unexpected value type object"):
        convert_to_string(None, [object()])


def test_a_timestamp_needs_a_time_zone() -> None:
    with pytest.raises(DataError, match="without time zone"):
        convert_to_string(TIMESTAMP_SCHEMA, INSTANT.replace(tzinfo=None))
