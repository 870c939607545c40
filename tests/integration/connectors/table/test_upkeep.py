"""Upkeep of real tables: fewer files, fewer snapshots, the same rows, and what runs need."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.upkeep import DAY_MS, Step, TableUpkeep, Upkeep
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.delta.table import DeltaTable
from airflow_kconnect.connectors.table.formats.delta.upkeep import DeltaUpkeep
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from airflow_kconnect.connectors.table.formats.iceberg.upkeep import IcebergUpkeep
from airflow_kconnect.connectors.table.settings import Routing, TableSettings
from tests.support import unique

APPLICATION = "orders-1f2e"
ALL = [step.value for step in Step]
PLANS, FILES = 2, 5  # Iceberg does not compact fewer files


def now_ms() -> int:
    return int(time.time() * 1000)


def plan(number: int) -> SinkPlan:
    return SinkPlan(APPLICATION, number, ())


def order(older_than_ms: int, *, steps: list[str] = ALL, dry_run: bool = False) -> TableUpkeep:
    return TableUpkeep(Upkeep(steps), older_than_ms, (APPLICATION,), dry_run=dry_run)


@pytest.fixture
def table(spark: SparkSession, lake: str) -> IcebergTable:
    """A table with a snapshot for each of its plans; the first one has all files but one."""
    name = f"{lake}.upkeep.{unique('t').replace('-', '_')}"
    settings = TableSettings("orders", "iceberg", None, Routing())
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    table = IcebergTable(spark.newSession(), name, settings)
    put(table, 1, files=FILES - 1)
    put(table, PLANS)
    return table


def put(table: IcebergTable, number: int, *, files: int = 1, publish: bool = True) -> None:
    table.append(plan(number), table.spark.range(number * 10, number * 10 + 10).repartition(files))
    if publish:
        table.publish(plan(number))


def ids(table: IcebergTable) -> list[int]:
    rows = table.spark.sql(f"SELECT id FROM {table.name} ORDER BY id").collect()
    return [row.id for row in rows]


class TestIceberg:
    def test_files_and_snapshots_become_few_and_rows_and_the_last_plan_stay(
        self, spark: SparkSession, table: IcebergTable
    ) -> None:
        """A dry run before says what would be done. What is staged and not old can be published afterwards."""
        facts = IcebergUpkeep(spark, table.name, order(now_ms(), dry_run=True)).run()
        assert (facts["files"], facts["snapshots"], facts["small_files"]) == (FILES, PLANS, FILES)
        assert facts["expired"] == PLANS - 1

        before = now_ms()
        put(table, PLANS + 1, publish=False)
        facts = IcebergUpkeep(spark, table.name, order(before)).run()
        assert (facts["files"], facts["compacted"], facts["orphans"]) == ([FILES, 1], FILES, 0)
        assert facts["snapshots"][0] == PLANS + 1 and facts["snapshots"][1] <= 4
        assert facts["removed"] == PLANS - 1  # a list of manifests of each snapshot that has expired
        assert ids(table) == list(range(10, 30))
        assert table.has(plan(PLANS)) and not table.has(plan(PLANS + 1))

        table.publish(plan(PLANS + 1))
        assert ids(table) == list(range(10, 40))

    @pytest.mark.exhaustive
    def test_the_proof_of_the_last_plan_stays_after_any_number_of_foreign_commits(
        self, spark: SparkSession, table: IcebergTable
    ) -> None:
        for number in range(3):
            spark.range(number, number + 1).writeTo(table.name).append()
        IcebergUpkeep(spark, table.name, order(now_ms(), steps=[Step.EXPIRE])).run()
        assert table.last_plan(APPLICATION) == PLANS


class TestDelta:
    @pytest.fixture
    def name(self, spark: SparkSession, lake: str, tmp_path: Path) -> str:
        """A table with a file for each of two plans, and one that another writer has added."""
        name = f"delta.`{tmp_path / 't'}`"
        table = DeltaTable(spark.newSession(), name, TableSettings("orders", "delta", None, Routing()))
        table.create(TableDefinition(T.StructType([T.StructField("id", T.LongType())])))
        for number in (1, 2):
            table.append(plan(number), table.spark.range(number * 10, number * 10 + 10).coalesce(1))
        spark.range(30, 40).coalesce(1).writeTo(name).append()
        return name

    def test_files_become_few_rows_and_plans_stay_and_a_checkpoint_is_written(
        self, spark: SparkSession, name: str, tmp_path: Path
    ) -> None:
        facts = DeltaUpkeep(spark, name, order(now_ms() - 7 * DAY_MS)).run()
        assert (facts["files"], facts["compacted"], facts["removed"]) == ([3, 1], 3, 0)
        assert spark.sql(f"SELECT count(DISTINCT id) FROM {name}").first() == (30,)
        table = DeltaTable(spark.newSession(), name, TableSettings("orders", "delta", None, Routing()))
        assert (table.last_plan(APPLICATION), table.has(plan(2)), table.has(plan(3))) == (2, True, False)
        assert list((tmp_path / "t" / "_delta_log").glob("*.checkpoint*.parquet"))

    @pytest.mark.exhaustive
    def test_files_that_only_old_versions_need_are_removed(self, spark: SparkSession, name: str) -> None:
        spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        try:
            DeltaUpkeep(spark, name, order(now_ms(), steps=[Step.COMPACT])).run()
            facts = DeltaUpkeep(spark, name, order(now_ms() + DAY_MS, steps=[Step.EXPIRE])).run()
        finally:
            spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
        assert facts["removed"] == 3

    @pytest.mark.exhaustive
    def test_a_dry_run_changes_nothing(self, spark: SparkSession, name: str) -> None:
        facts = DeltaUpkeep(spark, name, order(now_ms() - 7 * DAY_MS, dry_run=True)).run()
        assert (facts["files"], facts["version"]) == (3, 3)

    def test_less_than_delta_allows_is_refused(self, spark: SparkSession, lake: str) -> None:
        with pytest.raises(ConfigError, match=r"`keep_days`: 7 is too little: Delta keeps at least 7 days, unless"):
            DeltaUpkeep(spark, "default.whichever", order(now_ms() - DAY_MS)).run()
