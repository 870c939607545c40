"""Messages through converters, many at once: a Spark job per batch, not per message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.converters.base import UNKNOWN_SHAPE, Converter, Decoded, Hints, encode_union
from tests.support.spark.lakes import compiled


@dataclass(frozen=True)
class Answer:
    """What became of a message: the bytes that it was written as, or why it could not be read or written."""

    output: bytes | None
    error: str | None
    tag: int | None


Staged = Callable[[DataFrame, Converter, Sequence[Shape]], tuple[DataFrame, Decoded]]
Through = Callable[[Converter, Converter, Sequence[bytes | None]], list[Answer]]


@pytest.fixture(scope="session")
def staged() -> Staged:
    """Decode the column `raw` as runs do: each intermediate result is a column of its own."""

    def decode(rows: DataFrame, converter: Converter, shapes: Sequence[Shape]) -> tuple[DataFrame, Decoded]:
        def let(expressions: Mapping[str, Column]) -> list[Column]:
            nonlocal rows
            columns = {f"let_{name}": expression for name, expression in expressions.items()}
            rows = rows.withColumns(columns) if columns else rows
            return [F.col(name) for name in columns]

        parsed = {n: F.col(name) for n in range(len(shapes)) if (name := f"parsed_{n}") in rows.columns}
        decoded = converter.decode(F.col("raw"), shapes, let, Hints(parsed))
        return rows, decoded

    return decode


@pytest.fixture(scope="session")
def through(spark: SparkSession, staged: Staged) -> Through:
    """Decode messages with one converter, encode the data with another."""

    def convert(reader: Converter, writer: Converter, messages: Sequence[bytes | None]) -> list[Answer]:
        shapes = tuple(reader.shapes_of(messages))
        names = tuple(f"value_{n}" for n in range(len(shapes)))
        raw = pa.array(messages, pa.binary())
        parsed = {f"parsed_{n}": parser.parse(raw) for n, parser in reader.batch_parsers(shapes).items()}
        numbers = pa.array(range(len(messages)), pa.int32())
        rows = spark.createDataFrame(pa.table({"n": numbers, "raw": raw, **parsed}))
        rows, decoded = staged(rows, reader, shapes)
        values = [column.alias(name) for column, name in zip(decoded.columns, names, strict=True)]
        rows = rows.select("n", decoded.tag.alias("tag"), decoded.error.alias("read_error"), *values)
        union = Union(shapes, names, "tag")
        written, error, _ = encode_union(RecordFrame(rows, union), union, writer)
        problem = F.coalesce("read_error", F.lit(None) if error is None else error)
        unknown = F.when(F.col("tag") == UNKNOWN_SHAPE, "the shape is unknown")
        answers = rows.select("n", "tag", written.alias("output"), F.coalesce(problem, unknown).alias("error"))
        with compiled(spark):
            return [_answer(row.output, row.error, row.tag) for row in sorted(answers.collect())]

    return convert


def _answer(output: bytearray | None, error: str | None, tag: int | None) -> Answer:
    return Answer(None if error or output is None else bytes(output), error, tag)
