"""Table sinks in a group: they share Spark, but neither catalogs nor the names of what they write."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runs.group import GroupSpec
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run_group
from tests.integration.runtime.conftest import STRING
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.support import unique


@pytest.fixture
def tables(spark: SparkSession, bootstrap: str, lake: str) -> Lake:
    return Lake(spark, bootstrap, lake)


def test_they_write_at_once_next_to_other_connectors(
    tables: Lake, spark: SparkSession, worker_props: dict[str, str], tmp_path: Path
) -> None:
    topics = [tables.topic(*(record(id=n, **{f"of_{k}": "x"}) for n in range(20))) for k in range(2)]
    configs = [tables.config(topic) for topic in topics]
    configs.append(
        {
            "name": unique("file"),
            "connector.class": "FileStreamSink",
            "topics": topics[0],
            "file": str(tmp_path / "out.txt"),
            "value.converter": STRING,
        }
    )
    runs = tuple(RunSpec(config, worker_props, run_id=unique("run")) for config in configs)
    ends = list(run_group(GroupSpec(runs, 3), spark))
    assert [end.exit_code for end in ends] == [0, 0, 0]
    assert [len(tables.rows(topic)) for topic in topics] == [20, 20]
