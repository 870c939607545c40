"""Record frames of made-up records, and a run of a Spark-native sink with them, without Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.connector.sink import NativeSinkConnector, SinkSplit
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.runtime.sink.jobs import first_shapes

Row = tuple[int | None, Any]
"""Index of the shape (None: no value), and the value; JSON text if the shape is schemaless."""


def record_frame(spark: SparkSession, shapes: Sequence[Shape], rows: Sequence[Row], first: int = 0) -> RecordFrame:
    """Rows with consecutive offsets, in one Spark partition."""
    names = tuple(f"value_{n}" for n in range(len(shapes)))
    fields = [T.StructField("kafka_offset", T.LongType()), T.StructField("value_tag", T.IntegerType())]
    for name, shape in zip(names, shapes, strict=True):
        fields.append(T.StructField(name, T.StringType() if shape.schemaless else spark_type(shape.schema)))
    data = [(first + n, tag, *_cells(len(shapes), tag, value)) for n, (tag, value) in enumerate(rows)]
    df = spark.createDataFrame(data, T.StructType(fields)).coalesce(1)
    for name, shape in zip(names, shapes, strict=True):
        df = df.withColumn(name, F.parse_json(name)) if shape.schemaless else df
    df = df.withColumn("error", F.lit(None).cast("string"))
    return RecordFrame(df, Union(tuple(shapes), names, "value_tag"), carried=("kafka_offset", "error"))


def _cells(count: int, tag: int | None, value: Any) -> list[Any]:
    return [value if n == tag else None for n in range(count)]


def run_sink(connector: NativeSinkConnector, topic: str, frame: RecordFrame, start: int, end: int) -> dict[str, Any]:
    """What the runtime does with one split, its writer in a Spark partition."""
    split = SinkSplit(topic, 0, start, end)
    connector.check()
    connector.prepare({TopicPartition(topic, 0): start})
    for wanted in connector.wants_first_shapes():
        for shape in first_shapes(frame).values():
            connector.first_shape(wanted, shape)
    rows = connector.render(frame)
    writer = connector.writer()

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer.open(split)
        for batch in batches:
            writer.write(batch.filter(batch.column("error").is_null()))
        yield pa.record_batch({"facts": [json.dumps(writer.close(split.end))]})

    (answer,) = rows.mapInArrow(write, "facts string").collect()
    connector.before_commit()
    return connector.commit([(split, json.loads(answer.facts))])
