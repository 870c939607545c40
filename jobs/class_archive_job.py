"""A spark-submit application that loads the classes which connector jobs need, for the class-data archive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

if TYPE_CHECKING:
    import pyarrow as pa


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def main() -> None:
    """One pass over what jobs use: Arrow, JSON, variants, files, aggregation."""
    spark = SparkSession.builder.appName("kconnect class archive").getOrCreate()
    numbers = spark.range(0, 1000, 1, 2).select("id", F.concat(F.lit("n"), F.col("id")).alias("name"))
    through_python = numbers.mapInArrow(_same, numbers.schema)
    text = through_python.select(F.to_json(F.struct("id", "name")).alias("value"))
    parsed = text.select(
        F.from_json("value", "id long, name string").alias("row"),
        F.to_json(F.try_parse_json("value")).alias("variant"),
    )
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "parquet"):
            parsed.select("row.*", "variant").write.format(form).save(f"{folder}/{form}")
            spark.read.format(form).load(f"{folder}/{form}").agg(F.max("id"), F.count("name")).collect()
        text.write.text(f"{folder}/text")
        spark.read.text(f"{folder}/text").mapInArrow(_same, "value string").count()
    spark.stop()


if __name__ == "__main__":
    main()
