"""How many files a plan writes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.spark.iceberg import as_other, metadata, plan


@pytest.fixture
def make_table(make_table: MakeTable) -> MakeTable:
    """Several tasks write, as in runs: one would write one file for each path, wherever rows go."""

    def make(*definition: Any, **more: Any) -> IcebergTable:
        table = make_table(*definition, **more)
        table.spark.conf.set("spark.sql.shuffle.partitions", "4")
        return table

    return make


def files(table: IcebergTable) -> list[int]:
    """How many files each partition path has."""
    return [
        row["count"] for row in table.spark.table(f"{table.name}.data_files").groupBy("partition").count().collect()
    ]


# With a file open for each of them, a thousand need more than the gigabyte that the session has.
@pytest.mark.parametrize("paths", [30, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_each_partition_path_has_one_file_whatever_task_has_read_its_rows(make_table: MakeTable, paths: int) -> None:
    """A merge has one, too."""
    table = make_table("id long, path int, n int", partition_by=("path",), keys=("id", "path"))
    rows = table.spark.range(4 * paths, numPartitions=4).withColumn("path", (F.col("id") % paths).cast("int"))
    table.append(plan(1), rows.withColumn("n", F.lit(0)))
    facts = table.publish(plan(1))
    assert facts["files"] == paths and facts["records"] == 4 * paths
    assert files(table) == [1] * paths
    assert len(facts["partitions"]) == 20 and set(facts["partitions"]) <= {f"path={n}" for n in range(paths)}
    table.merge(plan(2), rows.withColumn("n", F.lit(1)), ["id", "path"], None)
    assert table.publish(plan(2))["files"] == paths
    assert table.spark.table(table.name).where("n = 1").count() == 4 * paths


def test_rows_are_sorted_by_partition_so_that_one_file_is_open_at_a_time(make_table: MakeTable) -> None:
    table = make_table("id long, path int", partition_by=("path",))
    assert metadata(table).properties().get("write.spark.fanout.enabled") == "false"
    rows = table.spark.range(100).withColumn("path", (F.col("id") % 10).cast("int"))
    rows.createOrReplaceTempView("some_rows")
    explained = table.spark.sql(f"EXPLAIN INSERT INTO {table.name} SELECT * FROM some_rows").head()
    assert explained is not None
    assert "Sort [path" in explained[0] and "Exchange hashpartitioning(path" in explained[0]


def test_tables_of_others_get_sorted_rows_too(make_table: MakeTable) -> None:
    table = make_table(create=False)
    as_other(table, "CREATE TABLE {t} (id bigint, path int) USING iceberg PARTITIONED BY (path)")
    rows = table.spark.range(100).withColumn("path", (F.col("id") % 10).cast("int"))
    table.append(plan(1), rows)
    table.publish(plan(1))
    assert files(table) == [1] * 10
    assert "write.spark.fanout.enabled" not in dict(metadata(table).properties())
    table.merge(plan(2), rows.where("path = 3"), ["id"], None)
    assert table.publish(plan(2))["partitions"] == ["path=3"]
    assert metadata(table).properties().get("write.spark.fanout.enabled") == "false"


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
