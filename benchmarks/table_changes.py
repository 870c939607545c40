"""What it costs to find and read changes of tables, without Kafka: CPU seconds of Spark's JVM.

``python -m benchmarks.table_changes [rows]``, with a PySpark that has the formats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.source import Offset, PlanContext
from airflow_kconnect.connectors.table.source.source import SparkTableSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.spark.lakes import lakes_conf

_PROPERTIES = {
    "iceberg": "'write.update.mode'='copy-on-write'",
    "delta": "'delta.enableChangeDataFeed'='true'",
}


def main(rows: int) -> None:
    with TemporaryDirectory(prefix="kconnect-changes-") as folder:
        spark = _session(Path(folder))
        for format_, table in (("iceberg", "lake.db.t"), ("delta", "default.t")):
            _measure(spark, format_, table, rows)
        spark.stop()


def _session(folder: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    conf = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.memory": "2g",
        "spark.log.level": "ERROR",
    }
    for key, value in {**conf, **lakes_conf(folder / "lake", small=False)}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _measure(spark: SparkSession, format_: str, table: str, rows: int) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, n BIGINT, name STRING) USING {format_} TBLPROPERTIES"
              f" ({_PROPERTIES[format_]})")  # fmt: skip
    more = f"INSERT INTO {table} SELECT id, id * 7, concat('name ', id) FROM range({{}}, {{}})"
    spark.sql(more.format(0, rows))
    for keys in ("", "id"):
        measured(f"{format_}, keys ({keys}), first state", partial(moved, spark, format_, table, keys, None))
    for keys, change in (("", more.format(rows, 2 * rows)), ("id", f"UPDATE {table} SET n = 0 WHERE id % 10 = 0")):
        offset = moved(spark, format_, table, "", None)
        spark.sql(change)
        measured(f"{format_}, keys ({keys}), {change[:6]}", partial(moved, spark, format_, table, keys, offset))


def moved(spark: SparkSession, format_: str, table: str, keys: str, offset: Offset | None) -> Offset:
    """Plan, and read what is planned; returns the offset after it."""
    props = {"name": "x", "table.format": format_, "table.name": table, "topic": "t", "pk.fields": keys}
    source = SparkTableSourceConnector(props)
    offsets = {} if offset is None else {partition_identity({"table": table}): offset}
    plan = source.plan(PlanContext(offsets, {}, None, None, lambda: 2, lambda: spark))
    frame = source.read(spark, [(n, split, 0) for n, split in enumerate(plan.splits)])
    frame.df.write.format("noop").mode("overwrite").save()
    found = source.offset(plan.splits[-1], 0)
    source.finished()
    assert found is not None
    return found


def measured(what: str, work: Callable[[], object]) -> None:
    def cpu() -> float:
        children = psutil.Process().children(recursive=True)
        return sum(sum(each.cpu_times()[:2]) for each in children)

    work()  # Java warms up
    before = cpu()
    work()
    print(f"{what}: {cpu() - before:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
