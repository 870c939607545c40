"""A Delta table takes each plan once, and knows which ones it has."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.delta.table import DeltaTable
from tests.integration.connectors.table.delta.conftest import MakeTable, plan
from tests.support import unique

COLUMNS = T.StructType([T.StructField("id", T.LongType(), False), T.StructField("name", T.StringType())])
OURS = "shop-1"


@pytest.fixture
def table(open_table: MakeTable, path: str) -> DeltaTable:
    """An empty table."""
    table = open_table(path)
    table.create(TableDefinition(COLUMNS))
    return table


def rows(table: DeltaTable, *ids: int) -> DataFrame:
    return table.spark.createDataFrame([(n, f"name {n}") for n in ids], COLUMNS)


def ids(table: DeltaTable) -> list[int]:
    return sorted(row["id"] for row in table.spark.table(table.name).collect())


def folder(table: DeltaTable) -> Path:
    return Path(table.name.split("`")[1])


def history(table: DeltaTable) -> list[Any]:
    return table.spark.sql(f"DESCRIBE HISTORY {table.name}").collect()


def test_a_table_takes_a_plan_once_and_knows_its_offsets_files_and_bytes(
    table: DeltaTable, open_table: MakeTable
) -> None:
    """Also after its commits were cleaned up."""
    assert (table.has(plan(1)), table.last_plan(OURS)) == (False, None)
    table.append(plan(1), rows(table, 1))
    files = list(folder(table).glob("*.parquet"))
    size = sum(file.stat().st_size for file in files)
    assert table.publish(plan(1)) == {"files": len(files), "bytes": size, "snapshots": 1, "snapshot": 1}
    other = open_table(table.name)
    with pytest.raises(RetriableError, match="another run of the connector has written plan shop-1:1"):
        other.append(plan(1), rows(other, 1))
    assert ids(table) == [1]
    table.append(plan(4), rows(table))
    assert json.loads(history(table)[0]["userMetadata"])["kconnect.ranges"] == [["orders", 0, 40, 50]]
    rows(table, 2).writeTo(table.name).append()
    assert _plans(table) == ([True, True, False], 4, None)

    table._log().checkpoint()
    for commit in sorted((folder(table) / "_delta_log").glob("*.json"))[:3]:
        commit.unlink()
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    table._java.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert _plans(open_table(table.name)) == ([True, True, False], 4, None)


def _plans(table: DeltaTable) -> tuple[list[bool], int | None, int | None]:
    return [table.has(plan(n)) for n in (1, 4, 5)], table.last_plan(OURS), table.last_plan("shop-2")


def test_of_two_runs_that_write_a_plan_at_once_one_is_refused(table: DeltaTable, open_table: MakeTable) -> None:
    flags = folder(table).with_name("flags")
    flags.mkdir()

    def both_are_writing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (flags / unique("writer")).touch()
        while len(list(flags.iterdir())) < 2:
            time.sleep(0.02)
        yield from batches

    def write(one: DeltaTable) -> str:
        slow = rows(one, 1, 2).coalesce(1).mapInArrow(both_are_writing, COLUMNS)
        try:
            one.append(plan(1), slow)
        except RetriableError as error:
            return str(error)
        return "written"

    with ThreadPoolExecutor(2) as threads:
        answers = sorted(threads.map(write, [open_table(table.name), open_table(table.name)]))
    assert [answer.partition(":")[0] for answer in answers] == [f"table {table.name}", "written"]
    assert "another run of the connector has written plan shop-1:1 at the same time" in answers[0]
    assert ids(table) == [1, 2]


def test_a_table_that_was_restored_replaced_or_created_again_has_only_the_plans_since(open_table: MakeTable) -> None:
    table = open_table(f"default.{unique('t').replace('-', '_')}")
    table.create(TableDefinition(COLUMNS))
    table.append(plan(1), rows(table, 1))
    table.append(plan(2), rows(table, 2))
    table.spark.sql(f"RESTORE TABLE {table.name} TO VERSION AS OF 1")
    assert (ids(table), table.last_plan(OURS), table.has(plan(3))) == ([1], 1, False)
    with pytest.raises(DataError, match=r"whether it has plan shop-1:2 cannot be told: it was restored or replaced"):
        table.has(plan(2))
    table.append(plan(3), rows(table, 3))
    assert (ids(table), table.last_plan(OURS)) == ([1, 3], 3)
    table.spark.sql(f"CREATE OR REPLACE TABLE {table.name} (id BIGINT) USING delta")
    assert table.last_plan(OURS) is None
    with pytest.raises(DataError, match="restored or replaced"):
        table.has(plan(3))
    table.spark.sql(f"DROP TABLE {table.name}")
    assert (table.columns(), table.last_plan(OURS)) == (None, None)
    again = open_table(table.name)
    again.create(TableDefinition(COLUMNS))
    assert (again.last_plan(OURS), again.has(plan(3))) == (None, False)


@pytest.mark.exhaustive  # by its version in the test before
def test_a_table_that_was_restored_by_time_has_only_the_plans_before(table: DeltaTable) -> None:
    table.append(plan(1), rows(table, 1))
    time = history(table)[0]["timestamp"]
    table.append(plan(2), rows(table, 2))
    table.spark.sql(f"RESTORE TABLE {table.name} TO TIMESTAMP AS OF '{time}'")
    assert (ids(table), table.last_plan(OURS)) == ([1], 1)


def test_a_table_in_the_catalog_is_created_with_its_namespace_and_has_a_file_per_partition_and_plan(
    open_table: MakeTable, tmp_path: Path
) -> None:
    namespace = unique("shop").replace("-", "_")
    table = open_table(f"spark_catalog.{namespace}.orders_1")
    assert table.columns() is None
    nested = T.StructType([T.StructField("zip code", T.StringType(), True, {"comment": "it's five digits"})])
    columns = T.StructType(
        [
            T.StructField("id", T.LongType(), False, {"comment": "of the shop"}),
            T.StructField("day", T.DateType()),
            T.StructField("to", nested),
        ]
    )
    definition = TableDefinition(columns, ("id",), ("day",), str(tmp_path / "files"), {"team": "o'hara"})
    table.create(definition)
    table.create(definition)
    assert table.columns() == columns
    detail = table.spark.sql(f"DESCRIBE DETAIL {table.name}").first()
    assert detail is not None
    assert detail["partitionColumns"] == ["day"]
    assert detail["location"].endswith(str(tmp_path / "files"))
    wanted = {"team": "o'hara", "delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}
    assert wanted.items() <= detail["properties"].items()
    of_days = "id", "date_add(DATE'2026-01-01', int(id % 5)) AS day", "struct('x' AS `zip code`) AS to"
    table.append(plan(1), table.spark.range(200).repartition(4).selectExpr(*of_days))
    assert table.publish(plan(1))["files"] == 5  # one for each partition
    assert table.last_plan(OURS) == 1


def test_a_table_can_be_clustered_and_one_that_must_not_widen_is_left_alone(open_table: MakeTable, path: str) -> None:
    table = open_table(path)
    narrow = {"delta.enableTypeWidening": "false"}
    table.create(TableDefinition(COLUMNS, partition_by=("cluster(id, name)",), properties=narrow))
    detail = table.spark.sql(f"DESCRIBE DETAIL {table.name}").first()
    assert detail is not None
    assert detail["clusteringColumns"] == ["id", "name"]
    with pytest.raises(ConfigError, match=r"`delta\.enableTypeWidening` is false"):
        table.change([Change("widen", ("id",), T.DecimalType(20, 0))])


def test_partitions_of_other_formats_are_an_error(open_table: MakeTable, path: str) -> None:
    with pytest.raises(ConfigError, match=r"days\(id\): a Delta table is partitioned by columns"):
        open_table(path).create(TableDefinition(COLUMNS, partition_by=("days(id)",)))


def test_something_else_of_that_name_is_an_error(open_table: MakeTable) -> None:
    name = unique("t").replace("-", "_")
    table = open_table(f"default.{name}")
    table.spark.sql(f"CREATE TABLE {name} (id BIGINT) USING parquet")
    with pytest.raises(ConfigError, match=f"table default.{name} is not a Delta table"):
        table.columns()


def test_columns_are_added_widened_and_made_optional_where_delta_can(open_table: MakeTable, path: str) -> None:
    table = open_table(path)
    inner = T.StructType([T.StructField("a", T.IntegerType())])
    table.create(
        TableDefinition(
            T.StructType(
                [
                    T.StructField("id", T.IntegerType(), False),
                    T.StructField("price", T.DecimalType(10, 2)),
                    T.StructField("one", inner),
                    T.StructField("list", T.ArrayType(inner)),
                ]
            )
        )
    )
    table.append(plan(1), table.spark.sql("SELECT 1 AS id, 1.5BD AS price, struct(1 AS a) AS one, array() AS list"))
    table.change(
        [
            Change("add", ("when",), T.TimestampNTZType(), "it's local"),
            Change("add", ("one", "b"), T.ArrayType(T.StringType())),
            Change("add", ("list", "element", "b"), inner),
            Change("widen", ("id",), T.LongType()),
            Change("widen", ("price",), T.DecimalType(20, 4)),
            Change("widen", ("list", "element", "a"), T.LongType()),
            Change("optional", ("id",)),
        ]
    )
    columns = table.columns()
    assert columns is not None
    assert columns["id"] == T.StructField("id", T.LongType(), True)
    assert columns["when"] == T.StructField("when", T.TimestampNTZType(), True, {"comment": "it's local"})
    assert columns.simpleString() == (
        "struct<id:bigint,price:decimal(20,4),one:struct<a:int,b:array<string>>,"
        "list:array<struct<a:bigint,b:struct<a:int>>>,when:timestamp_ntz>"
    )
    assert [row["id"] for row in table.spark.table(table.name).collect()] == [1]
    with pytest.raises(ConfigError, match="cannot be changed"):
        table.change([Change("widen", ("id",), T.StringType())])


def keyed(table: DeltaTable, *changes: tuple[int, str | None]) -> DataFrame:
    """Rows with these names; None: the row is to go."""
    values = [(n, name, name is None) for n, name in changes]
    return table.spark.createDataFrame(values, T.StructType([*COLUMNS.fields, T.StructField("gone", T.BooleanType())]))


def test_a_merge_updates_inserts_and_deletes_once(table: DeltaTable, open_table: MakeTable) -> None:
    table.merge(plan(1), keyed(table, (9, None)), ("id",), "gone")
    assert table.last_plan(OURS) == 1  # what changes nothing is in the table too
    table.merge(plan(2), rows(table, 1, 2, 3), ("id",), None)
    changes = keyed(table, (2, "new"), (3, None), (4, "four"), (5, None))
    table.merge(plan(3), changes, ("id",), "gone")
    other = open_table(table.name)
    with pytest.raises(RetriableError, match="another run"):
        other.merge(plan(3), keyed(other, (9, "nine")), ("id",), "gone")
    assert sorted(map(tuple, table.spark.table(table.name).collect())) == [(1, "name 1"), (2, "new"), (4, "four")]
    assert table.publish(plan(3))["files"] >= 1
    assert not [row for row in table.spark.sql("SHOW TABLES").collect() if "kconnect" in row.tableName]


def merge_around(table: DeltaTable, number: int, write: Callable[[], object]) -> None:
    """Merge rows 1 and 5; another writer writes when they are read, and before they are committed."""
    flag = folder(table).with_name("merging")

    def slow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flag.touch()
        while not flag.with_name("changed").exists():
            time.sleep(0.02)
        yield from batches

    changes = rows(table, 1, 5).coalesce(1).mapInArrow(slow, COLUMNS)
    with ThreadPoolExecutor(1) as thread:
        merging = thread.submit(table.merge, plan(number), changes, ("id",), None)
        while not flag.exists():
            assert not merging.done(), merging.result()
            time.sleep(0.02)
        write()
        flag.with_name("changed").touch()
        merging.result(120)


@pytest.mark.exhaustive  # it is repeated in the next test, too
def test_a_merge_is_repeated_if_another_writer_was_faster(table: DeltaTable, open_table: MakeTable) -> None:
    table.append(plan(1), rows(table, 1, 2))
    other = open_table(table.name)
    merge_around(table, 2, lambda: other.spark.sql(f"UPDATE {other.name} SET name = 'foreign'"))
    assert sorted(map(tuple, table.spark.table(table.name).collect())) == [
        (1, "name 1"),
        (2, "foreign"),
        (5, "name 5"),
    ]


def test_of_two_first_loads_at_once_the_second_updates_what_the_first_has_added(
    table: DeltaTable, open_table: MakeTable
) -> None:
    other = open_table(table.name)
    loaded = keyed(other, (1, "other"), (2, "other"))
    merge_around(table, 1, lambda: other.merge(plan(1, "others-1"), loaded, ("id",), "gone"))
    assert sorted(map(tuple, table.spark.table(table.name).collect())) == [(1, "name 1"), (2, "other"), (5, "name 5")]


def test_a_table_that_was_loaded_after_the_look_at_it_is_merged(
    table: DeltaTable, open_table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_table(table.name)

    def is_empty() -> bool:
        was_empty = type(table).is_empty(table)
        if was_empty:
            other.append(plan(1, "others-1"), rows(other, 1, 2))
        return was_empty

    monkeypatch.setattr(table, "is_empty", is_empty)
    table.merge(plan(1), keyed(table, (1, "new"), (3, "new")), ("id",), "gone")
    assert sorted(map(tuple, table.spark.table(table.name).collect())) == [(1, "new"), (2, "name 2"), (3, "new")]
