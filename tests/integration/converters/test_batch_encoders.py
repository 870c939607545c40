"""Messages that Python writes batch by batch are byte for byte those of the Catalyst expressions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import SCHEMALESS, STRING_SCHEMA, TIME, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.converters.base import BatchEncoder, Converter
from airflow_kconnect.converters.byte_array import ByteArrayConverter
from airflow_kconnect.converters.primitives import BooleanConverter, DoubleConverter, FloatConverter, LongConverter
from airflow_kconnect.converters.string import StringConverter
from airflow_kconnect.converters.types import arrow_type
from tests.integration.converters.test_converters_properties import (
    EXTREMES,
    RECORD,
    integers,
    json_converter,
    one_job,
    records,
)

ENVELOPE, BARE = json_converter(), json_converter(schemas_enable="false")
NUMERIC = json_converter(decimal_format="NUMERIC")
BARE_NUMERIC = json_converter(schemas_enable="false", decimal_format="NUMERIC")
STRING, BYTES = StringConverter({}, is_key=False), ByteArrayConverter({}, is_key=False)
BOOLEAN, LONG = BooleanConverter({}, is_key=False), LongConverter({}, is_key=False)
FRACTIONS = FloatConverter({}, is_key=False), DoubleConverter({}, is_key=False)

# Maps whose keys are not texts are left to Spark.
STRUCT = replace(RECORD, fields=tuple(field for field in RECORD.fields if field.name != "by_number")).as_optional()
SPECIAL = ['"', "\\", "\\u001f", "\n\r\t\b\f", "\x00\x1f\x7f", "😀\uffff", "", "plain"]
NUMBERS = [0, -1, 2**63 - 1, 2**63, -(2**70), 10**37, 10**40, 0.1, 1.5, 100.0, -0.0, 1e16, 1.25e-05, -2.5e300, 1e-10]

texts = st.text(st.characters(codec="utf-8"), max_size=12)
# Java up to 18 writes some doubles with more digits than needed; these it does not.
doubles = st.integers(-999, 999).map(lambda number: number / 8)
rows_of_struct = st.tuples(records, doubles).map(lambda drawn: {**drawn[0], "float": drawn[1], "double": drawn[1] * 3})
json_data = st.recursive(
    st.none() | st.booleans() | texts | integers(70) | doubles,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

Case = tuple[Converter, Shape, Sequence[Any]]
Both = Callable[[Sequence[Case]], None]


@pytest.fixture(scope="session")
def both(spark: SparkSession) -> Both:
    """Write data both ways, in one Spark job, and compare messages and errors. Schemaless data are JSON texts."""

    def compare(cases: Sequence[Case]) -> None:
        most = max(len(values) for _, _, values in cases)
        data = [pa.array([*values, *[None] * (most - len(values))], _type(shape)) for _, shape, values in cases]
        names = [f"c{n}" for n in range(len(cases))]
        rows = spark.createDataFrame(pa.table({"n": list(range(most)), **dict(zip(names, data, strict=True))}))
        columns = []
        for name, (converter, shape, _) in zip(names, cases, strict=True):
            column = F.parse_json(name) if shape.schemaless else F.col(name)
            written, error, _ = converter.encode(shape, column)
            problem = F.lit(None).cast("string") if error is None else error
            columns.append(F.struct(written.alias("message"), problem.alias("error")).alias(name))
        found = rows.select("n", *columns).sort("n").collect()
        for name, values, (converter, shape, _) in zip(names, data, cases, strict=True):
            cells = [row[name] for row in found]
            expected = [(None if cell.error else cell.message and bytes(cell.message), cell.error) for cell in cells]
            encoder = converter.value_encoder(shape)
            assert encoder is not None
            assert _written(encoder, values) == expected, (converter.java_name(), converter.config_values, shape)

    return compare


def _type(shape: Shape) -> pa.DataType:
    return pa.string() if shape.schemaless else arrow_type(shape.schema)


def _written(encoder: BatchEncoder, data: pa.Array) -> list[tuple[bytes | None, str | None]]:
    # A batch may begin anywhere in its columns.
    padded = pa.concat_arrays([pa.nulls(1, data.type), data])[1:]
    messages, errors = encoder.messages(padded, "t")
    pairs = zip(messages.to_pylist(), errors.to_pylist(), strict=True)
    return [(None if error else message, error) for message, error in pairs]


def optional(type_: SchemaType) -> ConnectSchema:
    return ConnectSchema(type_, optional=True)


def test_texts_booleans_and_integers_as_json(both: Both) -> None:
    kept = json_converter(replace_null_with_default="false")
    with_default, literal = replace(STRING_SCHEMA, default='"'), ConnectSchema(SchemaType.BOOLEAN, default=True)

    @one_job
    @given(st.lists(texts, min_size=20), st.lists(integers(64), min_size=10))
    def check(words: list[str], numbers: list[int]) -> None:
        columns: list[tuple[ConnectSchema, list[Any]]] = [
            (optional(SchemaType.STRING), [*SPECIAL, None, *words]),
            (STRING_SCHEMA, [*words, None]),
            (optional(SchemaType.BOOLEAN), [True, None, False]),
            (optional(SchemaType.INT64), [None, -(2**63), *numbers]),
            (ConnectSchema(SchemaType.INT8), [-128, None, 127]),
            (with_default, [None, "a"]),
            (literal, [None, False]),
        ]
        both([(writer, Shape(schema), values) for writer, (schema, values) in product((ENVELOPE, BARE, kept), columns)])

    check()


@pytest.mark.parametrize("writer", [NUMERIC, BARE], ids=["with an envelope, numeric decimals", "bare"])
def test_structs_as_json(both: Both, writer: Converter) -> None:
    @one_job
    @given(st.lists(rows_of_struct, min_size=15))
    def check(rows: list[Any]) -> None:
        both([(writer, Shape(STRUCT), [None, *rows])])

    check()


def test_a_value_of_each_type_as_json(both: Both) -> None:
    names = ["double", "float", "a.b `c`", "amount", "day", "time", "at", "list", "by_name", "inner"]
    schemas = {field.name: field.schema.as_optional() for field in RECORD.fields}

    @one_job
    @given(st.lists(rows_of_struct, min_size=10))
    def check(rows: list[Any]) -> None:
        shapes = [(Shape(schemas[name]), [None, *(row[name] for row in rows)]) for name in names]
        infinite = [float("nan"), float("inf"), float("-inf"), -0.0]
        shapes += [(Shape(optional(type_)), infinite) for type_ in (SchemaType.FLOAT32, SchemaType.FLOAT64)]
        both([(writer, *column) for writer, column in product((ENVELOPE, BARE_NUMERIC), shapes)])

    check()


def test_what_json_does_not_allow_is_the_same_error(both: Both) -> None:
    time = ConnectSchema(SchemaType.INT32, name=TIME, version=1, optional=True)
    misnamed = ConnectSchema(SchemaType.STRING, name=TIME, optional=True)
    items = ConnectSchema(SchemaType.ARRAY, value_schema=STRING_SCHEMA, optional=True)
    inner = struct(("x", STRING_SCHEMA), ("t", time), optional=True)
    outer = struct(("a", inner), ("b", STRING_SCHEMA), ("c", items), ("d", misnamed))
    rows = [
        *(None, {"a": None, "b": None}, {"a": {"x": None, "t": -1}, "b": None}, {"a": {"x": "1", "t": -1}, "b": "1"}),
        *({"a": None, "b": "1", "c": ["1", None]}, {"b": "1", "d": "1"}, {"a": {"x": "1", "t": 0}, "b": "1"}),
    ]
    both([(ENVELOPE, Shape(outer), rows), (BARE, Shape(misnamed), ["1", None])])


def test_schemaless_data(both: Both) -> None:
    @one_job
    @given(st.lists(json_data, min_size=30))
    def check(drawn: list[Any]) -> None:
        values = [None, *map(json.dumps, [*drawn, *SPECIAL, *NUMBERS, dict(zip(SPECIAL, NUMBERS, strict=False))])]
        both([(writer, SCHEMALESS, values) for writer in (ENVELOPE, BARE, STRING, BOOLEAN, LONG, *FRACTIONS)])

    check()


def test_bytes_numbers_and_strings(both: Both) -> None:
    numbers = [(writer, writer.shape, [None, *values]) for writer, values in EXTREMES.items()]
    both(
        [
            *numbers,
            (BOOLEAN, BOOLEAN.shape, [True, None, False]),
            *((writer, Shape(STRING_SCHEMA), ["1", None]) for writer in (LONG, BOOLEAN, BYTES)),
            (BYTES, Shape(ConnectSchema(SchemaType.BYTES)), [b"\x00\xff", b"", None]),
            (BYTES, SCHEMALESS, [None, "1", "true", '"a"', "1e99"]),
            (STRING, Shape(STRING_SCHEMA), [*SPECIAL, None]),
            (STRING, Shape(ConnectSchema(SchemaType.BOOLEAN)), [True, False, None]),
            (STRING, Shape(ConnectSchema(SchemaType.INT64)), [1, None, -(2**63)]),
        ]
    )
