"""Source splits whose records do not need Spark's JVM: one Python process reads, encodes and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from airflow_kconnect.connect.frame import BatchFrame, RecordFrame, Union
from airflow_kconnect.runtime.source.variants import with_variants
from airflow_kconnect.runtime.source.writer import WriterSettings, written_split

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class SplitMove:
    """Moves the splits of which it gets the numbers, in the first column; pickled.

    :param frame: the records; all of them are encoded by the writer.
    """

    frame: BatchFrame
    writer: WriterSettings

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for split in batch.column(0).to_pylist():
                with closing(self.frame.read(split)) as records:
                    yield written_split(self.writer, split, records)


def on_spark(spark: SparkSession, frame: BatchFrame, splits: int) -> RecordFrame:
    """The same records as rows of Spark: partition n has those of split n. JSON texts without a schema are parsed.

    :param splits: how many there are.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for split in batch.column(0).to_pylist():
                yield from frame.read(split)

    rows = spark.range(0, splits, 1, splits).mapInArrow(read, from_arrow_schema(frame.schema))
    return frame.over(with_variants(rows, _texts(frame, frame.key), _texts(frame, frame.value)))


def _texts(frame: BatchFrame, part: Union) -> list[str]:
    named = zip(part.shapes, part.columns, strict=True)
    return [name for shape, name in named if shape.schemaless and pa.types.is_string(frame.schema.field(name).type)]
