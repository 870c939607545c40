"""``python -m benchmarks.lake_upserts``: what a merge costs, by the number of changed keys and the size of the table.

Without Kafka: Spark makes the changes, so that only the last change of each key, and the merge, are measured. CPU
seconds are those of this process and of Spark's JVM.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import psutil
import typer

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connectors.table.settings import RECORD_VALUE, UPSERT, Routing, TableSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connectors.table.formats.base import Table

app = typer.Typer(add_completion=False)

_DELETED, _TENTH = "kconnect_deleted", 10


@app.command()
def main(
    rows: Annotated[list[int], typer.Option(help="Rows of the table.")] = [20_000_000],  # noqa: B006
    keys: Annotated[list[int], typer.Option(help="Keys that have changed; a tenth of them are deleted.")] = [1_000_000],  # noqa: B006
    changes: Annotated[int, typer.Option(help="Changes of each of these keys.")] = 2,
    formats: Annotated[list[str], typer.Option(help="Of the table.")] = ["iceberg", "delta"],  # noqa: B006
    partitions: Annotated[int, typer.Option(help="Topic-partitions that the changes are from.")] = 1,
    spread: Annotated[
        bool, typer.Option(help="Changed keys are from everywhere; else they are the newest ones.")
    ] = True,
    memory: Annotated[str, typer.Option(help="Heap of Spark's JVM.")] = "3g",
) -> None:
    """Fill a table, then merge; print a line for each."""
    with TemporaryDirectory(prefix="lake-upserts-") as folder:
        spark = _session(Path(folder), memory)
        for name in formats:
            for size in rows:
                _measure(spark, name, Path(folder), size, keys, changes, partitions, spread=spread)
        spark.stop()


def _session(folder: Path, memory: str) -> SparkSession:
    from pyspark.sql import SparkSession

    from airflow_kconnect.converters.types import SESSION_CONF
    from airflow_kconnect.runtime.process.session import START_CONF
    from tests.support.spark.lakes import lakes_conf

    own = {"spark.driver.memory": memory, "spark.ui.enabled": "false", "spark.log.level": "ERROR"}
    own |= {"spark.local.dir": str(folder / "spark"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    builder = SparkSession.builder.master("local[*]").appName("benchmarks")
    for key, value in {**START_CONF, **SESSION_CONF, **own, **lakes_conf(folder / "lake", small=False)}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _measure(
    spark: SparkSession,
    name: str,
    folder: Path,
    rows: int,
    keys: list[int],
    changes: int,
    partitions: int,
    *,
    spread: bool,
) -> None:
    table = _table(spark, name, folder / "delta", rows)
    plans = _plans()
    _say("fill", name, rows, rows, *_timed(lambda: _write(table, next(plans), _filled(spark, rows), None)))
    for count in keys:
        changed = _changed(spark, rows, count, changes, partitions, spread=spread)
        last = _last(changed, partitions)
        _say("last of each key", name, rows, count, *_timed(lambda last=last: _count(last)))
        _say("merge", name, rows, count, *_timed(lambda last=last: _write(table, next(plans), last, _DELETED)))
    spark.sql(f"DROP TABLE IF EXISTS {table.name}") if name == "iceberg" else None


def _table(spark: SparkSession, name: str, folder: Path, rows: int) -> Table:
    from airflow_kconnect.connectors.table.formats.base import TableDefinition
    from airflow_kconnect.connectors.table.formats.registry import table_class

    settings = TableSettings("benchmark", name, None, Routing(), UPSERT, RECORD_VALUE, ("id",), deletes=True)
    full_name = f"lake.bench.t{rows}" if name == "iceberg" else f"delta.`{folder}/t{rows}`"
    table = table_class(name)(spark, full_name, settings)
    table.create(TableDefinition(_filled(spark, 0).schema, ("id",)))
    return table


def _plans() -> Iterator[SinkPlan]:
    number = 0
    while True:
        number += 1
        yield SinkPlan("benchmark", number, ())


def _write(table: Table, plan: SinkPlan, rows: DataFrame, deleted: str | None) -> None:
    if deleted is None:
        table.append(plan, rows)
    else:
        table.merge(plan, rows, ["id"], deleted)
    table.publish(plan)


def _filled(spark: SparkSession, rows: int) -> DataFrame:
    """Rows of some 100 bytes."""
    return _with_cells(spark.range(rows))


def _changed(spark: SparkSession, rows: int, keys: int, changes: int, partitions: int, *, spread: bool) -> DataFrame:
    """Changes as they are in the plan of a keyed table: half of the keys are new ones, if the newest have changed."""
    from pyspark.sql import functions as F

    number = F.col("kafka_offset") % keys
    key = number * (rows // keys) if spread else number + rows - keys // 2
    given = spark.range(keys * changes).withColumnRenamed("id", "kafka_offset")
    given = _with_cells(given.withColumn("id", key)).withColumn(_DELETED, F.col("id") % _TENTH == 0)
    source = F.struct(F.lit("t").alias("topic"), (F.col("id") % partitions).cast("int").alias("partition"))
    return given.withColumns({"kconnect_source": source, "kconnect_time": F.col("kafka_offset")})


def _with_cells(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    text = F.sha2(F.col("id").cast("string"), 256)
    return rows.withColumns({"name": text, "amount": F.rand(7) * 100, "at": F.timestamp_seconds("id")})


def _last(changed: DataFrame, partitions: int) -> DataFrame:
    from airflow_kconnect.connect.frame import RecordFrame, Union
    from airflow_kconnect.connectors.table.changes import Changes

    if partitions == 1:
        changed = changed.drop("kconnect_source", "kconnect_time")
    changes = Changes(RecordFrame(changed, Union()), ("id",), False, _DELETED, partitions)
    return changes.last(changed).drop("kafka_offset")


def _count(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _timed(do: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds of all processes, and seconds."""
    began, cpu = time.monotonic(), _cpu_s()
    do()
    return _cpu_s() - cpu, time.monotonic() - began


def _cpu_s() -> float:
    own = psutil.Process()
    times = [process.cpu_times() for process in [own, *own.children(recursive=True)]]
    return sum(each.user + each.system for each in times)


def _say(what: str, name: str, rows: int, count: int, cpu_s: float, seconds: float) -> None:
    typer.echo(f"{name:8} {rows:>12,} rows  {what:17} {count:>12,}  {cpu_s:8.1f} CPU s  {seconds:8.1f} s")


if __name__ == "__main__":
    app()
