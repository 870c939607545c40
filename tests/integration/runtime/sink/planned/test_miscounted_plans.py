"""Rows that Spark loses or adds between a sink and its table, in whole runs: no run that ends well has lost one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from airflow_kconnect.connect.error_cells import pack_error
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.table.formats.delta.table import DeltaTable
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from airflow_kconnect.connectors.table.formats.plain.table import PlainTable
from airflow_kconnect.connectors.table.session_conf import with_conf
from airflow_kconnect.runtime.sink.passing import Passing
from airflow_kconnect.runtime.sink.planned import PlannedRun
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.integration.runtime.sink.planned.test_interrupted_plans import ending_at

KEYS = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}


def losing(patch: pytest.MonkeyPatch, table: type, name: str) -> None:
    """What is written lacks the row 2, as if an extension of Spark had a filter for it."""
    write = getattr(table, name)

    def without(self: Any, rows: DataFrame, *arguments: Any) -> object:
        return write(self, rows.where("id != 2"), *arguments)

    patch.setattr(table, name, without)


class OfDelta:
    """A table of Delta in a folder, and a sink of it."""

    def __init__(self, tables: Lake, folder: Path, **more: str) -> None:
        self._tables, self.topic = tables, tables.topic(*(record(id=n) for n in range(4)))
        self.name = f"delta.`{folder}/{self.topic}`"
        self.config = tables.config(self.topic, **{"table.format": "delta", "table.name.format": self.name, **more})

    def ids(self) -> list[int]:
        return sorted(row.id for row in self._tables.spark.table(self.name).collect())


@pytest.fixture
def of_delta(tables: Lake, tmp_path: Path) -> OfDelta:
    return OfDelta(tables, tmp_path)


@pytest.mark.parametrize("keys", [{}, pytest.param(KEYS, marks=pytest.mark.exhaustive)], ids=["append", "upsert"])
def test_a_row_that_spark_loses_ends_the_run_and_nothing_is_visible(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str]
) -> None:
    topic = tables.topic(*(record(id=n, name="x") for n in range(4)))
    config = tables.config(topic, **keys)
    with monkeypatch.context() as patch:
        losing(patch, IcebergTable, "_append")
        with pytest.raises(DataError) as error:
            run_here(config)
        assert tables.rows(topic, "id") == []
    for part in (config["name"], topic, "to write 4 rows", "has written 3", "Nothing of the plan is visible"):
        assert part in str(error.value)
    assert run_here(config).records["written"] == 4
    assert tables.rows(topic, "id") == [(n,) for n in range(4)]


@pytest.mark.parametrize("mode", ["merge-on-read", pytest.param("copy-on-write", marks=pytest.mark.exhaustive)])
def test_a_change_that_a_merge_loses_ends_the_run(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    topic = tables.topic(*(record(id=n, name="x") for n in range(4)))
    config = tables.config(topic, **KEYS, **{"table.properties.write.merge.mode": mode})
    run_here(config)
    tables.add(topic, record(id=2, name="y"), record(id=3, name="y"), record(id=4, name="y"))
    with monkeypatch.context() as patch:
        losing(patch, IcebergTable, "_merge")
        with pytest.raises(DataError, match=r"was to write 3 rows .* has written 2"):
            run_here(config)
    run_here(config)
    assert tables.rows(topic, "id", "name") == [(0, "x"), (1, "x"), (2, "y"), (3, "y"), (4, "y")]
    tables.add(topic, "{oops", record(name="y"))  # a plan without good records has lost none
    report = run_here({**config, "errors.tolerance": "all"})
    assert report.records == {"read": 2, "written": 0, "filtered": 0, "dead_lettered": 2}


@pytest.mark.exhaustive
def test_rows_that_another_writer_has_twice_are_no_loss(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=1, name="x"))
    config = tables.config(topic, **KEYS)
    run_here(config)
    tables.spark.sql(f"INSERT INTO {tables.namespace}.{topic} VALUES (1, 'z')")
    tables.add(topic, record(id=1, name="y"))
    assert run_here(config).records["written"] == 1
    assert tables.rows(topic, "id", "name") == [(1, "y"), (1, "y")]


def test_delta_ends_each_run_until_the_plan_is_written_again(
    run_here: Run, of_delta: OfDelta, tables: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        losing(patch, DeltaTable, "_append")
        with pytest.raises(DataError, match=r"was to write 4 rows .* has written 3\. They are its version 1"):
            run_here(of_delta.config)
    with pytest.raises(DataError, match=r"was to write 4 rows .* has written 3"):
        run_here(of_delta.config)
    assert of_delta.ids() == [0, 1, 3]


@pytest.mark.exhaustive
def test_delta_compares_what_a_killed_run_has_written(
    run_here: Run, of_delta: OfDelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, ending_at("after-last-write"):
        losing(patch, DeltaTable, "_append")
        patch.setattr(DeltaTable, "_check", lambda *_: None)
        run_here(of_delta.config)
    with pytest.raises(DataError, match=r"was to write 4 rows .* has written 3"):
        run_here(of_delta.config)


@pytest.mark.exhaustive
def test_changes_that_delta_loses_end_each_run(
    run_here: Run, tables: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = OfDelta(tables, tmp_path, **KEYS)
    run_here(target.config)
    tables.add(target.topic, record(id=2), record(id=5), record(id=6))
    sql = SparkSession.sql

    def without(self: SparkSession, text: str, *more: Any) -> DataFrame:
        return sql(self, text.replace("WHEN NOT MATCHED AND", "WHEN NOT MATCHED AND s.id != 5 AND"), *more)

    with monkeypatch.context() as patch:
        patch.setattr(SparkSession, "sql", without)
        with pytest.raises(DataError, match=r"was to write 3 rows .* has written 2"):
            run_here(target.config)
    with pytest.raises(DataError, match=r"was to write 3 rows .* has written 2"):
        run_here(target.config)


@pytest.mark.exhaustive
def test_files_lack_nothing_that_spark_has_counted(
    run_here: Run, tables: Lake, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = tables.topic(*(record(id=n) for n in range(4)))
    config = tables.config(topic, **{
        "table.format": "parquet", "table.name.format": topic, "table.location": f"{tmp_path}/${{table}}",
    })  # fmt: skip
    run_here(config)
    append = PlainTable.append
    monkeypatch.setattr(
        PlainTable, "append", lambda self, plan, rows, count: append(self, plan, rows.where("id != 2"), count)
    )
    tables.add(topic, record(id=2))
    with pytest.raises(DataError, match=r"was to write 1 rows .* has written 0"):
        run_here(config)


def test_good_records_of_the_second_look_are_those_that_were_written(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = tables.topic(record(id=1), "{oops", record(id=2))
    config = tables.config(topic, **{"errors.tolerance": "all"})
    judged = PlannedRun._judged

    def one_more(self: PlannedRun, *arguments: Any, **more: Any) -> Any:
        reports = judged(self, *arguments, **more)
        reports[0].written += 1
        return reports

    with monkeypatch.context() as patch:
        patch.setattr(PlannedRun, "_judged", one_more)
        with pytest.raises(RetriableError, match=r"2 good, 0 filtered and 1 bad records when plan .* and 3 good"):
            run_here(config)
    assert tables.rows(topic, "id") == []
    assert run_here(config).records == {"read": 3, "written": 2, "filtered": 0, "dead_lettered": 1}


def test_what_delta_has_is_not_written_again_if_a_broker_fails_at_the_second_look(
    run_here: Run, of_delta: OfDelta, tables: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.add(of_delta.topic, "{oops", record(id=4))
    config = {**of_delta.config, "errors.tolerance": "all"}
    judged = PlannedRun._judged

    def cut_off(self: PlannedRun, *arguments: Any, **more: Any) -> Any:
        reports = judged(self, *arguments, **more)
        error = pack_error(RetriableError("the broker is unavailable"))
        return [replace(each, end=each.end - 1, stopped=True, error=error) for each in reports]

    with monkeypatch.context() as patch:
        patch.setattr(PlannedRun, "_judged", cut_off)
        with pytest.raises(RetriableError, match="the broker is unavailable"):
            run_here(config)
    assert run_here(config).records["dead_lettered"] == 1
    assert of_delta.ids() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("keys", [pytest.param({}, marks=pytest.mark.exhaustive), KEYS], ids=["append", "upsert"])
def test_rows_that_spark_has_counted_twice_are_counted_again(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str]
) -> None:
    topic = tables.topic(*(record(id=n) for n in range(4)))
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.{topic} (id BIGINT) USING iceberg")
    tables.spark.sql(f"ALTER TABLE {tables.namespace}.{topic} WRITE ORDERED BY id")  # samples them first
    observed: list[int] = []
    count_again = Passing.count_again

    def noted(self: Passing) -> None:
        observed.append(self["good"])
        count_again(self)

    monkeypatch.setattr(Passing, "count_again", noted)
    with with_conf(tables.spark, {"spark.sql.shuffle.partitions": "2"}):  # one would need no samples
        assert run_here(tables.config(topic, **keys)).records["written"] == 4
    assert observed[0] == 8
    assert len(tables.rows(topic)) == 4
