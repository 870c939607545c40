"""Formats of Spark to which rows are only appended, in whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record


@pytest.mark.parametrize("table_format", ["parquet", pytest.param("orc", marks=pytest.mark.exhaustive)])
def test_files_are_appended_with_the_columns_that_they_have_at_least_once_and_the_report_says_so(
    run_here: Run, tables: Lake, spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    topic = tables.topic(record(id=1, day="01"), record(id=2, day="02"))
    config = tables.config(topic, **{
        "table.format": table_format, "table.name.format": topic, "table.location": f"{tmp_path}/${{table}}",
        "table.write.compression": "zstd", "table.partition.by": "day", "errors.tolerance": "all",
    })  # fmt: skip
    assert run_here(config).guarantee == "at_least_once"
    tables.add(topic, record(id=3, day="01"), record(id=4, day="01", note="x"))
    report = run_here(config)
    assert report.records["dead_lettered"] == 1
    assert any("at least once" in text for text in report.warnings)
    folder = tmp_path / topic
    assert sorted(row.id for row in spark.read.format(table_format).load(str(folder)).collect()) == [1, 2, 3]
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"day=01", "day=02"}


def test_a_format_that_the_worker_does_not_name_is_refused(run_here: Run, tables: Lake) -> None:
    config = tables.config(tables.topic(record(id=1)), **{"table.format": "jdbc", "table.write.dbtable": "${table}"})
    with pytest.raises(ConfigError, match=r"kconnect\.table\.formats\.allowed"):
        run_here(config)
