"""``python -m benchmarks.table_rows``: CPU time per record of making a table's rows, compared with a plain select of
the same columns; Spark alone, no Kafka and no table.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from rich.console import Console

from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.connectors.table.columns.columns import ColumnSettings, column_type
from airflow_kconnect.connectors.table.columns.rows import rows_of
from airflow_kconnect.runtime.process.session import LazySession
from benchmarks.measure import cpu_seconds
from benchmarks.session import spark_session

_ROWS, _PASSES = 200_000, 5
_OPTIONAL = {
    "id": SchemaType.INT64,
    "status": SchemaType.INT32,
    "amount": SchemaType.FLOAT64,
    "paid": SchemaType.BOOLEAN,
    "customer": SchemaType.STRING,
    "page": SchemaType.STRING,
}
_COPIES = 3
SCHEMA = struct(
    *((f"{name}_{n}", ConnectSchema(type_, optional=True)) for n in range(_COPIES) for name, type_ in _OPTIONAL.items())
)
_IGNORE = ColumnSettings(evolution={"add": "ignore", "widen": "ignore", "optional": "ignore"})


def main() -> None:
    """Print microseconds per record of each case."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        cases = dict(_cases(LazySession("benchmarks", spark_session(Path(folder))).spark))
        found: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(_PASSES + 1):
            for name, rows in cases.items():
                before = _cpu_s()
                rows.write.format("noop").mode("overwrite").save()
                if number:
                    found[name].append((_cpu_s() - before) / _ROWS * 1e6)
    for name, passes in found.items():
        console.print(f"{name:<40} {statistics.median(passes):6.2f} µs of CPU a record ({len(SCHEMA.fields)} columns)")


def _cases(spark: SparkSession) -> Iterator[tuple[str, DataFrame]]:
    type_ = column_type(SCHEMA)
    assert isinstance(type_, T.StructType)
    number = F.col("id")
    made = {
        SchemaType.INT64: number,
        SchemaType.INT32: (number % 1000).cast("int"),
        SchemaType.FLOAT64: (number % 1000) / F.lit(8),
        SchemaType.BOOLEAN: number % 2 == 0,
        SchemaType.STRING: F.concat(F.lit("a text "), number.cast("string")),
    }
    value = F.struct(*(made[each.schema.type].alias(each.name) for each in SCHEMA.fields))
    data = spark.range(0, _ROWS, 1, 2).select(value.alias("value"), F.lit(None).cast("string").alias("error"))
    # Out of a cache, so that all cases read the same and nothing is computed in between.
    data = data.cache()
    data.count()
    yield "plain select", _good(data.select("value.*", "error"))
    frame = RecordFrame(data, single(Shape(SCHEMA), "value"), carried=("error",))
    yield "same types", _good(rows_of(frame, type_, _IGNORE))
    required = T.StructType([T.StructField(each.name, each.dataType, False) for each in type_.fields])
    yield "all columns required", _good(rows_of(frame, required, _IGNORE))
    yield "narrower columns, all values checked", _good(rows_of(frame, _narrower(type_), _IGNORE))
    variants = data.select(F.to_variant_object("value").alias("value"), "error").cache()
    variants.count()
    gets = [F.try_variant_get("value", f"$.{e.name}", e.dataType.simpleString()).alias(e.name) for e in type_.fields]
    yield (
        "schemaless, only try_variant_get",
        variants.select(*gets, "error").where(F.col("error").isNull()).drop("error"),
    )
    schemaless = RecordFrame(variants, single(SCHEMALESS, "value"), carried=("error",))
    yield "schemaless, all values checked", _good(rows_of(schemaless, type_, _IGNORE))


def _narrower(type_: T.StructType) -> T.StructType:
    types = {T.LongType(): T.IntegerType(), T.IntegerType(): T.ShortType(), T.DoubleType(): T.DecimalType(12, 3)}
    return T.StructType([T.StructField(each.name, types.get(each.dataType, each.dataType)) for each in type_.fields])


def _good(rows: DataFrame) -> DataFrame:
    """As in a run: the observation keeps Spark from evaluating everything twice, in a filter and after it."""
    return rows.observe(Observation(), F.count(F.lit(1)).alias("rows")).where(F.col("error").isNull()).drop("error")


def _cpu_s() -> float:
    return cpu_seconds([os.getpid()])


if __name__ == "__main__":
    main()
