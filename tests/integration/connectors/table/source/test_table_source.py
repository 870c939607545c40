"""Tables as sources: their changes, what is new by a column, and all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.run import RunReport, RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.kafka import read_all

JSON = "org.apache.kafka.connect.json.JsonConverter"
Read = dict[str, Any] | None
Records = list[tuple[Read, Read]]


class Source:
    """A table source with a table and a topic of its own."""

    def __init__(self, spark: SparkSession, worker: dict[str, str], format_: str, table: str) -> None:
        self.spark, self._worker, self.table = spark, worker, table
        self.topic = unique("rows")
        self.config = {
            "name": unique("table"),
            "connector.class": "SparkTableSource",
            "table.format": format_,
            "table.name": table,
            "topic": self.topic,
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
        }

    def run(self, **more: str) -> RunReport:
        return run(RunSpec({**self.config, **more}, self._worker, run_id=unique("run")), self.spark.newSession())

    def records(self) -> Records:
        found = read_all(self._worker["bootstrap.servers"], self.topic)
        return [(_read(record.key), _read(record.value)) for record in found]

    def sql(self, statement: str) -> None:
        self.spark.sql(statement.replace("{t}", self.table))


def _read(data: bytes | None) -> Read:
    return None if data is None else json.loads(data)


@pytest.fixture(params=["iceberg", "delta"])
def source(request: pytest.FixtureRequest, spark: SparkSession, worker_props: dict[str, str], lake: str) -> Source:
    format_ = request.param
    name = unique("orders").replace("-", "_")
    made = Source(spark, worker_props, format_, f"{lake}.db.{name}" if format_ == "iceberg" else f"default.{name}")
    # Changes that are recorded row by row: Iceberg tells them from data files alone.
    properties = {
        "iceberg": "'write.delete.mode'='copy-on-write', 'write.update.mode'='copy-on-write'",
        "delta": "'delta.enableChangeDataFeed'='true'",
    }
    made.sql(
        f"CREATE TABLE {{t}} (id BIGINT NOT NULL, name STRING) USING {format_} TBLPROPERTIES ({properties[format_]})"
    )
    return made


def test_the_first_run_reads_the_table_as_it_is(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    source.run()
    assert sorted(value["id"] for _, value in source.records() if value) == [1, 2]


def test_the_next_run_reads_what_was_added(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a')")
    source.run()
    source.sql("INSERT INTO {t} VALUES (2, 'b')")
    assert source.run().records["written"] == 1


def test_nothing_new_is_nothing_to_write(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a')")
    source.run()
    assert source.run().records["written"] == 0


def test_a_changed_row_is_a_record_and_a_deleted_one_a_tombstone(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    source.run(**{"pk.fields": "id"})
    source.sql("UPDATE {t} SET name = 'B' WHERE id = 2")
    source.sql("DELETE FROM {t} WHERE id = 3")
    source.run(**{"pk.fields": "id"})
    assert source.records()[3:] == [({"id": 2}, {"id": 2, "name": "B"}), ({"id": 3}, None)]


def test_deleted_rows_of_a_table_without_keys_end_the_run(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    source.run()
    source.sql("DELETE FROM {t} WHERE id = 2")
    with pytest.raises(DataError, match=r"set `pk.fields`"):
        source.run()


def test_by_a_column_only_higher_values_are_read(source: Source) -> None:
    by_id = {"mode": "incrementing", "incrementing.column.name": "id"}
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (5, 'b')")
    source.run(**by_id)
    source.sql("INSERT INTO {t} VALUES (3, 'late'), (6, 'c')")
    assert source.run(**by_id).records["written"] == 1


def test_as_a_whole_the_table_is_read_each_time(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    source.run(mode="bulk")
    assert source.run(mode="bulk").records["written"] == 2


def test_a_table_that_is_not_there_is_an_error_of_its_key(source: Source) -> None:
    with pytest.raises(ConfigError, match=r"table\.name"):
        source.run(**{"table.name": source.table + "_missing"})


def test_files_of_any_format_of_spark(
    spark: SparkSession, worker_props: dict[str, str], tmp_path: Path, lake: Callable[..., str]
) -> None:
    spark.range(5).write.parquet(str(tmp_path / "files"))
    source = Source(spark, worker_props, "parquet", "unused")
    del source.config["table.name"]
    report = source.run(
        mode="incrementing", **{"incrementing.column.name": "id", "table.path": str(tmp_path / "files")}
    )
    assert report.records["written"] == 5


def test_a_catalog_of_the_configuration_is_the_runs_own(
    spark: SparkSession, worker_props: dict[str, str], tmp_path: Path, lake: str
) -> None:
    source = Source(spark, worker_props, "iceberg", "shop.orders")
    own = {"table.catalog": unique("mine").replace("-", "_"), "table.catalog.type": "hadoop"}
    source.config |= own | {"table.catalog.warehouse": str(tmp_path)}
    with pytest.raises(ConfigError, match=r"there is no table mine_\w+\.shop\.orders"):
        source.run()
