"""The lines that the file sink makes without Spark's JVM are those that Catalyst makes."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.file.plain_text import plain_text
from airflow_kconnect.connectors.file.text import text_lines
from airflow_kconnect.converters.types import arrow_type
from tests.support.random_data import LEAVES, a_struct, values_of

_ROWS = 400


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
    schema = a_struct(random)
    column = values_of(random, schema, _ROWS)

    assert _by_arrow(schema, column) == _by_catalyst(spark, schema, column)


@pytest.mark.parametrize(
    ("schema", "values", "lines"),
    [
        pytest.param(LEAVES["text"], ["a", ""], ["a\n", "\n"], id="text without a struct"),
        pytest.param(LEAVES["text"], ["a", None], ["a\n", "null\n"], id="tombstones"),
        pytest.param(
            struct(("a", LEAVES["text"].as_optional()), ("b", LEAVES["text"].as_optional())),
            [{"a": "x", "b": "y"}, {"a": None, "b": "y"}, {"a": "x", "b": None}, {"a": None, "b": None}],
            ["Struct{a=x,b=y}\n", "Struct{b=y}\n", "Struct{a=x}\n", "Struct{}\n"],
            id="any member may be the first",
        ),
        pytest.param(
            ConnectSchema(SchemaType.ARRAY, value_schema=LEAVES["number"].as_optional()),
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
        pytest.param(struct(("a", LEAVES["double"])), {"a": 2e23}, id="a double that Java versions print differently"),
        pytest.param(
            struct(("a", ConnectSchema(SchemaType.INT32, True, 7))), {"a": None}, id="a default instead of null"
        ),
        pytest.param(struct(("a", LEAVES["day"])), {"a": 2_932_897}, id="the year 10000"),
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
    ],
)
def test_shapes_that_only_catalyst_renders(schema: ConnectSchema) -> None:
    assert plain_text((Shape(schema),)) is None
    assert plain_text((Shape(struct(("a", schema))),)) is None
