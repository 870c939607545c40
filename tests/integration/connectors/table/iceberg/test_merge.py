"""Rows that are updated, inserted and deleted by key."""

from __future__ import annotations

import pytest
from pyspark.sql import Row

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.spark.iceberg import append, as_other, changes, found, merge, metadata, plan, rows


def summary(table: IcebergTable) -> dict[str, str]:
    return dict(metadata(table).currentSnapshot().summary())


def load(table: IcebergTable) -> None:
    append(table, 1, *((n, "old") for n in range(10)))


@pytest.mark.parametrize(
    "version, of_deletions",
    [("2", "added-position-deletes"), pytest.param("3", "added-dvs", marks=pytest.mark.exhaustive)],
)
def test_rows_are_replaced_and_deleted_by_deletion_vectors_or_position_deletes(
    make_table: MakeTable, version: str, of_deletions: str
) -> None:
    table = make_table(keys=("id",), properties={"format-version": version})
    load(table)
    facts = merge(table, 2, (1, "new", False), (2, None, True), (77, "inserted", False), (78, None, True))
    rest = [(n, "old") for n in range(10) if n not in (1, 2)]
    assert found(table) == sorted([*rest, (1, "new"), (77, "inserted")])
    assert int(summary(table)[of_deletions]) > 0
    assert "added-equality-deletes" not in summary(table)
    assert facts["records"] == 2 and facts["snapshots"] == 1


def test_the_first_load_looks_for_no_keys(keyed: IcebergTable) -> None:
    merge(keyed, 1, (1, "a", False), (2, None, True), (3, "c", None))
    assert found(keyed) == [(1, "a"), (3, "c")]
    assert metadata(keyed).currentSnapshot().operation() == "append"


def test_a_merge_that_deletes_nothing_and_one_that_changes_nothing(keyed: IcebergTable) -> None:
    """A key that the table does not have is an error of the configuration."""
    load(keyed)
    keyed.merge(plan(2), rows(keyed, [(1, "new")]), ["id"], None)
    keyed.publish(plan(2))
    assert (1, "new") in found(keyed) and len(found(keyed)) == 10
    assert merge(keyed, 3)["records"] == 0
    assert keyed.has(plan(3))
    with pytest.raises(ConfigError, match="has no column nothing"):
        keyed.merge(plan(4), changes(keyed, (1, "a", False)), ["nothing"], "gone")


def test_a_merge_of_a_table_that_others_have_made(make_table: MakeTable) -> None:
    table = make_table(create=False)
    as_other(table, "CREATE TABLE {t} (id bigint, name string) USING iceberg")
    as_other(table, "INSERT INTO {t} VALUES (NULL, 'none'), (1, 'old')")
    merge(table, 1, (None, "new", False), (1, None, True))
    assert found(table) == [(None, "new")]
    assert "added-delete-files" in summary(table)


def test_keys_of_several_columns_and_columns_in_another_order(make_table: MakeTable) -> None:
    table = make_table("region string, id long, name string", keys=("id", "region"))
    some = table.spark.createDataFrame([("n", 1, "eu"), ("m", 1, "us")], "name string, id long, region string")
    table.merge(plan(1), some, ["id", "region"], None)
    table.publish(plan(1))
    table.merge(plan(2), some.where("region = 'us'").replace("m", "changed"), ["id", "region"], None)
    table.publish(plan(2))
    assert found(table) == [("eu", 1, "n"), ("us", 1, "changed")]


def test_the_records_of_a_copy_on_write_merge_are_read_once(make_table: MakeTable) -> None:
    """It is a property of the table."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    table = make_table(keys=("id",), properties={"write.merge.mode": "copy-on-write"})
    load(table)
    observation = Observation()
    read = table.spark.sparkContext.accumulator(0)

    def counting(row: Row) -> Row:
        read.add(1)
        return row

    source = changes(table, (1, "new", False), (2, None, True), (77, "inserted", False)).rdd.map(counting)
    counted = source.toDF("id long, name string, gone boolean").observe(observation, F.count("*").alias("n"))
    table.merge(plan(2), counted, ["id"], "gone")
    table.publish(plan(2))
    assert observation.get["n"] == 3 and read.value == 3
    assert len(found(table)) == 10 and (1, "new") in found(table)
    assert "added-delete-files" not in summary(table) and int(summary(table)["deleted-data-files"]) > 0
