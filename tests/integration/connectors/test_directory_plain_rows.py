"""The rows that the directory sink makes without Spark's JVM are those that Catalyst makes."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.sink import BatchRenderer
from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.directory.encoders.texts import TextEncoder
from airflow_kconnect.connectors.directory.plain_json import plain_json
from airflow_kconnect.connectors.directory.plain_parquet import plain_parquet
from airflow_kconnect.connectors.directory.rendering import json_lines, parquet_rows
from airflow_kconnect.connectors.directory.writers import encodable
from airflow_kconnect.converters.types import arrow_type
from tests.support.random_data import LEAVES, a_struct, values_of

_ROWS = 400
_SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 40))]


def _frame(spark: SparkSession, schema: ConnectSchema, column: pa.Array) -> RecordFrame:
    table = pa.table({"value": column, "kafka_offset": pa.array(range(len(column)))})
    rows = spark.createDataFrame(table).withColumn("error", F.lit(None).cast("string"))
    return RecordFrame(rows, Union((Shape(schema),), ("value",), None), carried=("kafka_offset", "error"))


def _rows(rendered: DataFrame) -> pa.RecordBatch:
    return rendered.orderBy("kafka_offset").toArrow().combine_chunks().to_batches()[0]


def _by_arrow(renderer: BatchRenderer | None, column: pa.Array) -> pa.RecordBatch | None:
    assert renderer is not None
    return renderer.render(pa.array(range(len(column))), None, (0, column))


def _written(rows: pa.RecordBatch | None) -> list[str]:
    assert rows is not None
    file = io.BytesIO()
    TextEncoder(file, "none").write(encodable(rows))
    return file.getvalue().decode().splitlines()


def _with_nulls(column: pa.Array) -> pa.Array:
    """Some values become tombstones."""
    return column.take(pa.array([None if n % 7 == 3 else n for n in range(len(column))]))


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_structs_as_json(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    schema = a_struct(random)
    column = _with_nulls(values_of(random, schema, _ROWS))
    expected = _written(_rows(json_lines(_frame(spark, schema, column))))
    # As to_json has no numbers for them, a batch with NaN or an infinity is left to Catalyst.
    batches = [column.slice(n, 1) for n in range(_ROWS)]
    made = [_by_arrow(plain_json((Shape(schema),)), batch) for batch in batches]

    assert sum(rows is not None for rows in made) > _ROWS / 4
    for rows, line in zip(made, expected, strict=True):
        assert rows is None or _written(rows) == [line]


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_structs_as_parquet(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    schema = a_struct(random)
    column = _with_nulls(values_of(random, schema, _ROWS))
    expected = _rows(parquet_rows(_frame(spark, schema, column))).column("row")
    rows = _by_arrow(plain_parquet((Shape(schema),)), column)

    assert rows is not None
    made = rows.column("row")
    assert [(f.name, f.type) for f in made.type] == [(f.name, f.type) for f in expected.type]
    # Python compares NaN by identity.
    assert repr(made.to_pylist()) == repr(expected.to_pylist())


@pytest.mark.parametrize(
    ("schema", "values", "lines"),
    [
        pytest.param(LEAVES["text"], ['a"\\\n', None], ['"a\\"\\\\\\n"', "null"], id="texts"),
        pytest.param(LEAVES["number"], [1, None, -2], ["1", "null", "-2"], id="numbers"),
        pytest.param(LEAVES["flag"], [True, None], ["true", "null"], id="booleans"),
        pytest.param(LEAVES["data"], [b"\xff", None], ['"/w=="', "null"], id="bytes"),
        pytest.param(LEAVES["double"], [1.0, 1e7, 0.0], ["1.0", "1.0E7", "0.0"], id="doubles"),
        pytest.param(struct(('a"b', LEAVES["text"])), [{'a"b': "x"}], ['{"a\\"b":"x"}'], id="names are escaped"),
        pytest.param(struct(), [{}], ["{}"], id="a struct without fields"),
    ],
)
def test_lines(schema: ConnectSchema, values: list[Any], lines: list[str]) -> None:
    column = pa.array([*values, *values], arrow_type(schema)).slice(len(values))

    assert _written(_by_arrow(plain_json((Shape(schema),)), column)) == lines


@pytest.mark.parametrize(
    ("schema", "values", "written"),
    [
        pytest.param(ConnectSchema(SchemaType.INT32, name=DATE), [19_723], "2024-01-01", id="days"),
        pytest.param(
            ConnectSchema(SchemaType.INT64, name=TIMESTAMP), [1], "1970-01-01 00:00:00.001000Z", id="instants"
        ),
    ],
)
def test_dates_that_are_connects_numbers(schema: ConnectSchema, values: list[int], written: str) -> None:
    types = pa.struct([("a", pa.int32() if schema.name == DATE else pa.int64())])
    shapes = (Shape(struct(("a", schema))),)
    rows = _by_arrow(plain_parquet(shapes), pa.array([{"a": value} for value in values], types))

    assert rows is not None
    assert rows.column("row").field("a").cast(pa.string()).to_pylist() == [written]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(LEAVES["double"], float("nan"), id="not a number"),
        pytest.param(LEAVES["double"], 2e23, id="a double that Java versions print differently"),
        pytest.param(ConnectSchema(SchemaType.INT32, True, 7), None, id="a default instead of null"),
        pytest.param(ConnectSchema(SchemaType.INT32), None, id="a value that is missing"),
        pytest.param(LEAVES["day"], 2_932_897, id="the year 10000"),
    ],
)
def test_a_batch_with_an_unusual_value_is_left_to_catalyst(schema: ConnectSchema, value: Any) -> None:
    types = pa.struct([("a", pa.float64() if schema.type is SchemaType.FLOAT64 else pa.int32())])

    assert _by_arrow(plain_json((Shape(struct(("a", schema))),)), pa.array([{"a": value}], types)) is None


def test_columns_of_all_shapes_are_in_each_file() -> None:
    shapes = (Shape(struct(("a", LEAVES["number"]))), Shape(LEAVES["text"]))
    rows = _by_arrow(plain_parquet(shapes), pa.array([{"a": 1}], arrow_type(shapes[0].schema)))

    assert rows is not None
    assert rows.column("row").to_pylist() == [{"a": 1, "value": None}]


def test_columns_of_different_types_are_left_to_catalyst() -> None:
    assert plain_parquet((Shape(struct(("a", LEAVES["number"]))), Shape(struct(("a", LEAVES["big"]))))) is None
