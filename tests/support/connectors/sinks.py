"""Record frames of made-up records, and a run of a Spark-native sink with them, without Kafka."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

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


def written(
    connector: NativeSinkConnector, frame: RecordFrame, start: int = 0
) -> tuple[SinkSplit, dict[str, Any], list[str]]:
    """What a task does with a split of topic `t`: the split, its facts, and the errors of its bad records."""
    rows = connector.render(frame).toArrow()
    split = SinkSplit("t", 0, start, start + rows.num_rows)
    writer = pickle.loads(pickle.dumps(connector.writer()))  # noqa: S301
    writer.open(split)
    for batch in rows.filter(rows.column("error").is_null()).to_batches(max_chunksize=1000):
        writer.write(batch)
    errors = [error for error in rows.column("error").to_pylist() if error is not None]
    return split, json.loads(json.dumps(writer.close(split.end))), errors


def run_sink(connector: NativeSinkConnector, frame: RecordFrame, start: int = 0) -> tuple[dict[str, Any], list[str]]:
    """What the runtime does with one split: the facts of its commit, and the errors of its bad records."""
    connector.check()
    connector.prepare({TopicPartition("t", 0): start})
    for wanted in connector.wants_first_shapes():
        for shape in first_shapes(frame).values():
            connector.first_shape(wanted, shape)
    split, facts, errors = written(connector, frame, start)
    connector.before_commit()
    return connector.commit([(split, facts)]), errors
