"""Sinks that are functions of a DataFrame: what they are called with, and what they are given again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.sink.planned.test_interrupted_plans import ending_at
from tests.support import unique
from tests.support.kafka import produce
from tests.support.spark.jobs import kill_job_at

FUNCTIONS = """
from __future__ import annotations
import json, pathlib
from typing import TYPE_CHECKING
from airflow_kconnect.sdk import sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

@sink(idempotent=True)
def folders(rows: DataFrame, batch_id: str, folder: str) -> None:
    rows.write.mode("overwrite").parquet(f"{folder}/{batch_id}")

@sink
def noted(rows: DataFrame, batch_id: str, folder: str) -> None:
    found = [rows.count(), sorted(row.id for row in rows.collect())]
    with pathlib.Path(folder, "calls.jsonl").open("a") as out:
        out.write(json.dumps([batch_id, *found]) + "\\n")
    if pathlib.Path(folder, "fails").exists():
        raise ConnectionError("the warehouse is closed")
"""
JSON = {"value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false"}
FIELDS = [{"field": "id", "type": "int64"}, {"field": "price", "type": "double", "optional": True}]

Run = Callable[..., RunReport]


@pytest.fixture
def config(tmp_path: Path, topic: Any) -> Callable[..., dict[str, str]]:
    """`config(function, **keys)`: of a sink with a topic and a folder."""
    file = tmp_path / f"{unique('frames').replace('-', '_')}.py"
    file.write_text(FUNCTIONS)
    registry().add(PluginFile.read(file))
    name = topic()

    def make(function: str, **keys: str) -> dict[str, str]:
        of_class = {"connector.class": f"{file.stem}.{function}", "folder": str(tmp_path)}
        return {"name": name, "topics": name, **of_class, **JSON, **keys}

    return make


@pytest.fixture
def run_of(worker_props: dict[str, str], spark: SparkSession) -> Callable[[dict[str, str]], RunReport]:
    """A run in the shared session."""
    return lambda config: run(RunSpec(config, worker_props), spark)


def write(bootstrap: str, config: dict[str, str], *ids: int | str | None) -> None:
    """Values with these ids; a text is written as it is, None is a tombstone."""
    values = [json.dumps({"id": each}) if isinstance(each, int) else each for each in ids]
    produce(bootstrap, config["topics"], values, partition=0)


def calls(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


def test_fields_are_columns(config: Any, run_of: Any, bootstrap: str, spark: SparkSession, tmp_path: Path) -> None:
    sink = config("folders", **{"value.converter.schemas.enable": "true"})
    schema = {"type": "struct", "fields": FIELDS}
    rows = [{"id": 1, "price": 2.5}, {"id": 2, "price": None}]
    produce(bootstrap, sink["topics"], [json.dumps({"schema": schema, "payload": row}) for row in rows])
    report = run_of(sink)
    found = spark.read.parquet(f"{tmp_path}/{sink['name']}-*")
    assert (found.dtypes, report.guarantee) == ([("id", "bigint"), ("price", "double")], "exactly_once")
    assert sorted(map(tuple, found.collect())) == [(1, 2.5), (2, None)]


def test_members_of_objects_without_a_schema_are_columns_of_batches_of_a_size(
    config: Any, run_of: Any, bootstrap: str, tmp_path: Path
) -> None:
    sink = config("noted", **{"batch.size": "2"})
    write(bootstrap, sink, 1, 2, 3)
    assert run_of(sink).records["written"] == 3
    assert [call[1:] for call in calls(tmp_path)] == [[2, [1, 2]], [1, [3]]]


def test_a_batch_that_failed_comes_again_as_it_was_under_its_identity(
    config: Any, run_of: Any, bootstrap: str, tmp_path: Path
) -> None:
    sink = config("noted")
    write(bootstrap, sink, 1, 2)
    (tmp_path / "fails").touch()
    with pytest.raises(RetriableError, match="noted: ConnectionError: the warehouse is closed"):
        run_of(sink)
    (tmp_path / "fails").unlink()
    write(bootstrap, sink, 3)
    run_of(sink)
    first, again, then = calls(tmp_path)
    assert (first, [call[2] for call in (again, then)], first[0] == then[0]) == (again, [[1, 2], [3]], False)


def test_a_bad_record_ends_the_run_after_those_before_it(
    config: Any, run_of: Any, bootstrap: str, tmp_path: Path
) -> None:
    sink = config("noted")
    write(bootstrap, sink, 1, None, 3)
    with pytest.raises(DataError, match="it is a tombstone, and noted takes values only"):
        run_of(sink)
    assert [call[2] for call in calls(tmp_path)] == [[1]]


def test_bad_records_are_skipped(config: Any, run_of: Any, bootstrap: str, tmp_path: Path) -> None:
    sink = config("noted", **{"errors.tolerance": "all"})
    write(bootstrap, sink, 1, None, "{broken", 4)
    report = run_of(sink)
    assert ([call[2] for call in calls(tmp_path)], report.records["dead_lettered"]) == ([[1, 4]], 2)


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_a_run_that_ends_before_its_commit_leaves_each_record_once(
    killed: bool,
    config: Any,
    run_of: Any,
    bootstrap: str,
    spark: SparkSession,
    worker_props: dict[str, str],
    tmp_path: Path,
) -> None:
    sink = config("folders")
    write(bootstrap, sink, 1, 2)
    if killed:
        kill_job_at("after-visible", sink, worker_props, tmp_path / "job")
    else:
        with ending_at("after-visible"):
            run_of(sink)
    write(bootstrap, sink, 3)
    run_of(sink)
    assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/{sink['name']}-*").collect()) == [1, 2, 3]
