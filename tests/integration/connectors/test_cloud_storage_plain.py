"""The rows that Confluent's sinks make without Spark's JVM are those that Catalyst makes."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE,
    INT32_SCHEMA,
    INT64_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.cloud_storage.plain import plain_rows
from airflow_kconnect.connectors.cloud_storage.rendering import rows
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.converters.types import arrow_type
from tests.support.random_data import a_struct, values_of

BY_FIELD = {"partitioner.class": "FieldPartitioner", "partition.field.name": "city,n"}
BY_TIME = {
    "partitioner.class": "HourlyPartitioner",
    "locale": "en",
    "timezone": "UTC",
    "timestamp.extractor": "RecordField",
    "timestamp.field": "at",
}
EVENT = struct(
    ("city", STRING_SCHEMA), ("n", INT32_SCHEMA), ("ok", BOOLEAN_SCHEMA), ("at", INT64_SCHEMA)
)  # fmt: skip
INSTANT = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
GOOD = {"city": "Köln", "n": 3, "ok": True, "at": 1_700_000_000_000}


def made(props: dict[str, str], shapes: tuple[Shape, ...], column: pa.Array) -> pa.RecordBatch | None:
    least = {"s3.bucket.name": "b", "format.class": "JsonFormat", "flush.size": "10", **props}
    renderer = plain_rows(S3SinkConnector.settings(S3SinkConnector.config().parse(least)), shapes, 5)
    return None if renderer is None else renderer.render(pa.array(range(len(column))), None, (0, column))


def expected(spark: SparkSession, props: dict[str, str], shape: Shape, column: pa.Array) -> pa.RecordBatch:
    least = {"s3.bucket.name": "b", "format.class": "JsonFormat", "flush.size": "10", **props}
    settings = S3SinkConnector.settings(S3SinkConnector.config().parse(least))
    table = pa.table({"value": column, "kafka_offset": pa.array(range(len(column)))})
    df = spark.createDataFrame(table).withColumn("error", F.lit(None).cast("string"))
    frame = RecordFrame(df, Union((shape,), ("value",), None), carried=("kafka_offset", "error"))
    found = rows(frame, settings, 5, "x").orderBy("kafka_offset").toArrow()
    return found.combine_chunks().to_batches()[0]


@pytest.mark.parametrize("format_", ["JsonFormat", "ParquetFormat"])
@pytest.mark.parametrize("seed", [3, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(4, 30))])
def test_random_structs(spark: SparkSession, format_: str, seed: int) -> None:
    random = Random(seed)
    schema = a_struct(random)
    column = values_of(random, schema, 100).drop_null()
    props = {"format.class": format_}
    wanted = expected(spark, props, Shape(schema), column).column("values").to_pylist()
    for n, value in enumerate(wanted):
        found = made(props, (Shape(schema),), column.slice(n, 1))
        # Python compares NaN by identity.
        assert found is None or repr(found.column("values").to_pylist()) == repr([value])


@pytest.mark.parametrize(("props", "column"), [(BY_FIELD, "folder"), (BY_TIME, "moment_ms")])
def test_folders_and_moments(spark: SparkSession, props: dict[str, str], column: str) -> None:
    values = pa.array([GOOD, {**GOOD, "city": "x", "n": -1, "at": -1}], arrow_type(EVENT))
    found = made(props, (Shape(EVENT),), values)
    assert found is not None
    wanted = expected(spark, props, Shape(EVENT), values)
    for name in (column, "values"):
        assert found.column(name).to_pylist() == wanted.column(name).to_pylist()


ODD: list[Any] = [
    pytest.param(BY_FIELD, EVENT, {**GOOD, "city": "a//b"}, id="not a folder"),
    pytest.param(
        {**BY_FIELD, "partition.field.format.path": "false"}, EVENT, {**GOOD, "city": ".x"}, id="a hidden folder"
    ),
    pytest.param(BY_FIELD, EVENT, {**GOOD, "city": "x" * 700}, id="a long folder"),
    pytest.param(BY_TIME, EVENT, {**GOOD, "at": 10**17}, id="out of range"),
    pytest.param(BY_TIME, struct(("at", STRING_SCHEMA)), {"at": "2024-01-01T00:00:00Z"}, id="text"),
    pytest.param(BY_TIME, struct(("b", STRING_SCHEMA)), {"b": ""}, id="no such field"),
    pytest.param({}, struct(("day", ConnectSchema(SchemaType.INT32, name=DATE))), {"day": 1}, id="another JSON"),
    pytest.param({**BY_TIME, "timestamp.extractor": "Record"}, EVENT, GOOD, id="timestamp of the record"),
    pytest.param({"store.kafka.keys": "true"}, EVENT, GOOD, id="keys"),
]


@pytest.mark.parametrize(("props", "schema", "value"), ODD)
def test_what_is_left_to_catalyst(props: dict[str, str], schema: ConnectSchema, value: dict[str, Any]) -> None:
    fields = [
        (field.name, pa.int32() if field.schema.name == DATE else arrow_type(field.schema)) for field in schema.fields
    ]
    assert made(props, (Shape(schema),), pa.array([value], pa.struct(fields))) is None


def test_texts_and_schemaless_values() -> None:
    text = made({}, (Shape(STRING_SCHEMA),), pa.array(['a"b']))
    assert text is not None
    assert text.column("values").to_pylist() == [b'"a\\"b"\n']
    schemaless = made({}, (SCHEMALESS,), pa.array(['{"a":1}']))
    assert schemaless is not None
    assert schemaless.column("values").to_pylist() == [b'{"a":1}\n']


def test_null_values_are_left_to_catalyst() -> None:
    assert made({}, (Shape(STRING_SCHEMA),), pa.array(["a", None])) is None
