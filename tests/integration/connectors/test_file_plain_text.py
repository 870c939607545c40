"""The lines that the file sink makes without Spark's JVM are those that Catalyst makes."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    Field,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.file.plain_text import plain_text
from airflow_kconnect.connectors.file.text import text_lines
from airflow_kconnect.converters.types import arrow_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEAVES = {
    "flag": ConnectSchema(SchemaType.BOOLEAN),
    "tiny": ConnectSchema(SchemaType.INT8),
    "small": ConnectSchema(SchemaType.INT16),
    "number": ConnectSchema(SchemaType.INT32),
    "big": ConnectSchema(SchemaType.INT64),
    "double": ConnectSchema(SchemaType.FLOAT64),
    "text": ConnectSchema(SchemaType.STRING),
    "data": ConnectSchema(SchemaType.BYTES),
    "amount": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "6"}),
    "fine": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "20"}),
    "whole": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "0"}),
    "day": ConnectSchema(SchemaType.INT32, name=DATE),
    "time": ConnectSchema(SchemaType.INT32, name=TIME),
    "at": ConnectSchema(SchemaType.INT64, name=TIMESTAMP),
}
_ROWS = 400
_DOUBLES = (0.0, -0.0, 1.0, 0.001, 0.00099, 1e7, 9999999.9, 1234567890123.4, 1.5e-12, math.inf, -math.inf, math.nan)
_TEXTS = ("", "plain", "ümläut ☃ 𝄞", "a,b}", "line\nfeed", "null", "\x00", "Struct{")


def _a_schema(random: Random, depth: int) -> ConnectSchema:
    """A random type, optional or not."""
    kind = random.choice(["struct", "list", "map", *["leaf"] * 3] if depth else ["leaf"])
    optional = random.random() < 0.6
    if kind == "leaf":
        found = random.choice(list(_LEAVES.values()))
    elif kind == "struct":
        members = tuple(Field(f"m{n}", _a_schema(random, depth - 1)) for n in range(random.randint(1, 6)))
        found = ConnectSchema(SchemaType.STRUCT, fields=members)
    elif kind == "list":
        found = ConnectSchema(SchemaType.ARRAY, value_schema=_a_schema(random, depth - 1))
    else:
        key = ConnectSchema(random.choice([SchemaType.STRING, SchemaType.INT32]))
        found = ConnectSchema(SchemaType.MAP, key_schema=key, value_schema=_a_schema(random, depth - 1))
    return found.as_optional() if optional else found


def _a_value(random: Random, schema: ConnectSchema) -> Any:
    """A random value, as Python has it."""
    if schema.optional and random.random() < 0.3:
        return None
    match schema.type:
        case SchemaType.STRUCT:
            return {member.name: _a_value(random, member.schema) for member in schema.fields}
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return [_a_value(random, schema.value_schema) for _ in range(random.choice([0, 1, 3]))]
        case SchemaType.MAP:
            assert schema.key_schema is not None and schema.value_schema is not None
            keys = {_a_value(random, schema.key_schema) for _ in range(random.choice([0, 1, 3]))}
            return [(key, _a_value(random, schema.value_schema)) for key in keys]
    return _a_leaf(random, schema)


def _a_leaf(random: Random, schema: ConnectSchema) -> Any:
    match schema.name or schema.type:
        case SchemaType.BOOLEAN:
            return random.random() < 0.5
        case SchemaType.FLOAT64:
            return random.choice([*_DOUBLES, random.uniform(-1e4, 1e4), 10 ** random.uniform(-300, 15)])
        case SchemaType.STRING:
            return random.choice(_TEXTS)
        case SchemaType.BYTES:
            return random.randbytes(random.choice([0, 1, 5, 200]))
        case str(name) if name == DECIMAL:
            scale = int((schema.parameters or {})["scale"])
            size = 10 ** random.randint(0, 37)
            return Decimal(random.choice([0, 1, -1, random.randint(-size, size)])).scaleb(-scale)
        case str(name) if name == DATE:
            return date(1970, 1, 1) + timedelta(days=random.randint(-719_162, 2_932_896))
        case str(name) if name == TIME:
            return random.randint(0, 86_399_999)
        case str(name) if name == TIMESTAMP:
            return _EPOCH + timedelta(milliseconds=random.randint(-62_135_596_800_000, 253_402_300_799_999))
    bits = {SchemaType.INT8: 7, SchemaType.INT16: 15, SchemaType.INT32: 31, SchemaType.INT64: 63}[schema.type]
    return random.choice([0, -(2**bits), 2**bits - 1, random.randint(-1000, 1000) % 100])


def _by_catalyst(spark: SparkSession, schema: ConnectSchema, column: pa.Array) -> list[str]:
    table = pa.table({"value": column, "kafka_offset": pa.array(range(len(column)))})
    rows = spark.createDataFrame(table).withColumn("error", F.lit(None).cast("string"))
    frame = RecordFrame(rows, Union((Shape(schema),), ("value",), None), carried=("kafka_offset", "error"))
    return [row.line for row in text_lines(frame).orderBy("kafka_offset").collect()]


def _by_arrow(schema: ConnectSchema, column: pa.Array) -> list[str] | None:
    renderer = plain_text((Shape(schema),))
    assert renderer is not None
    rows = renderer.render(pa.array(range(len(column))), None, (0, column))
    return None if rows is None else rows.column("line").to_pylist()


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 40))]
)
def test_random_structs(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    members = [
        Field(f"{name}{n}", _LEAVES[name].as_optional() if n else _LEAVES[name]) for name in _LEAVES for n in (0, 1)
    ]
    members += [Field(f"nested{n}", _a_schema(random, 3)) for n in range(8)]
    random.shuffle(members)
    schema = ConnectSchema(SchemaType.STRUCT, fields=tuple(members))
    column = pa.array([_a_value(random, schema) for _ in range(_ROWS)], arrow_type(schema))

    assert _by_arrow(schema, column) == _by_catalyst(spark, schema, column)


@pytest.mark.parametrize(
    ("schema", "values", "lines"),
    [
        pytest.param(_LEAVES["text"], ["a", ""], ["a\n", "\n"], id="text without a struct"),
        pytest.param(
            struct(("a", _LEAVES["text"].as_optional()), ("b", _LEAVES["text"].as_optional())),
            [{"a": "x", "b": "y"}, {"a": None, "b": "y"}, {"a": "x", "b": None}, {"a": None, "b": None}],
            ["Struct{a=x,b=y}\n", "Struct{b=y}\n", "Struct{a=x}\n", "Struct{}\n"],
            id="any member may be the first",
        ),
        pytest.param(
            ConnectSchema(SchemaType.ARRAY, value_schema=_LEAVES["number"].as_optional()),
            [[1, None], [], [2]],
            ["[1, null]\n", "[]\n", "[2]\n"],
            id="lists",
        ),
    ],
)
def test_lines(schema: ConnectSchema, values: list[Any], lines: list[str]) -> None:
    column = pa.array([*values, *values], arrow_type(schema))

    assert _by_arrow(schema, column.slice(len(values))) == lines


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(struct(("a", _LEAVES["double"])), {"a": 2e23}, id="a double that Java versions print differently"),
        pytest.param(
            struct(("a", ConnectSchema(SchemaType.INT32, True, 7))), {"a": None}, id="a default instead of null"
        ),
        pytest.param(struct(("a", _LEAVES["day"])), {"a": 2_932_897}, id="the year 10000"),
    ],
)
def test_a_batch_with_an_unusual_value_is_left_to_catalyst(schema: ConnectSchema, value: Any) -> None:
    types = pa.struct([("a", pa.float64() if isinstance(value["a"], float) else pa.int32())])

    assert _by_arrow(schema, pa.array([value], types)) is None


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(ConnectSchema(SchemaType.FLOAT32), id="32-bit floats"),
        pytest.param(ConnectSchema(SchemaType.STRING, name=DATE), id="a date that is a text"),
        pytest.param(None, id="without schema"),
    ],
)
def test_shapes_that_only_catalyst_renders(schema: ConnectSchema | None) -> None:
    assert plain_text((Shape(schema),)) is None
    assert plain_text((Shape(struct(("a", schema or ConnectSchema(SchemaType.FLOAT32)))),)) is None
