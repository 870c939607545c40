"""How many files a plan writes."""

from __future__ import annotations

from pyspark.sql import functions as F

from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.spark.iceberg import metadata, plan

PATHS = 1000


def files(table: IcebergTable) -> list[int]:
    """How many files each partition path has."""
    return [row["count"] for row in table.spark.table(f"{table.name}.files").groupBy("partition").count().collect()]


def test_each_of_a_thousand_partition_paths_has_one_file_whatever_task_read_its_rows(make_table: MakeTable) -> None:
    table = make_table(
        "id long, path int", partition_by=("path",), properties={"write.metadata.metrics.default": "none"}
    )
    rows = table.spark.range(4 * PATHS, numPartitions=4).withColumn("path", (F.col("id") % PATHS).cast("int"))
    table.append(plan(1), rows)
    facts = table.publish(plan(1))
    assert facts["files"] == PATHS and facts["records"] == 4 * PATHS
    assert files(table) == [1] * PATHS


def test_rows_are_sorted_by_partition_so_that_one_file_is_open_at_a_time(make_table: MakeTable) -> None:
    table = make_table("id long, path int", partition_by=("path",))
    assert metadata(table).properties().get("write.spark.fanout.enabled") is None
    rows = table.spark.range(100).withColumn("path", (F.col("id") % 10).cast("int"))
    rows.createOrReplaceTempView("some_rows")
    explained = table.spark.sql(f"EXPLAIN INSERT INTO {table.name} SELECT * FROM some_rows").head()
    assert explained is not None
    assert "Sort [path" in explained[0] and "Exchange hashpartitioning(path" in explained[0]


def test_the_files_of_a_merge_are_clustered_too(make_table: MakeTable) -> None:
    table = make_table("id long, path int, n int", partition_by=("path",), keys=("id", "path"))
    rows = table.spark.range(200, numPartitions=4).withColumn("path", (F.col("id") % 20).cast("int"))
    table.append(plan(1), rows.withColumn("n", F.lit(0)))
    table.publish(plan(1))
    table.merge(plan(2), rows.withColumn("n", F.lit(1)), ["id", "path"], None)
    facts = table.publish(plan(2))
    assert facts["files"] == 20
    assert table.spark.table(table.name).where("n = 1").count() == 200


def test_a_file_ends_at_its_target_size(make_table: MakeTable) -> None:
    table = make_table(
        "id long, text string",
        properties={"write.target-file-size-bytes": "100000", "write.parquet.row-group-size-bytes": "50000"},
    )
    rows = table.spark.range(40_000, numPartitions=1).withColumn("text", F.sha2(F.col("id").cast("string"), 512))
    table.append(plan(1), rows)
    facts = table.publish(plan(1))
    assert facts["files"] > 3 and facts["bytes"] / facts["files"] < 1_000_000


def test_options_of_the_writer_are_those_of_the_configuration(make_table: MakeTable) -> None:
    table = make_table(settings={"write_options": {"write-format": "orc"}})
    table.append(plan(1), table.spark.sql("SELECT 1L AS id, 'a' AS name"))
    table.publish(plan(1))
    assert [row.file_format for row in table.spark.table(f"{table.name}.files").collect()] == ["ORC"]
