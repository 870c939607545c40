"""A Python worker whose task has failed in the JVM must not believe that it has seen all rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.runtime.process.whole_input import whole

_ROWS = 90_000  # of which Arrow makes several batches


def _run(spark: SparkSession, told: Path, broken_at: int) -> None:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen = 0
        try:
            for batch in whole(batches):
                seen += batch.num_rows
                time.sleep(0.05)  # so that it is behind the JVM, as a writer is
        except Exception as error:
            told.write_text(f"{type(error).__name__} after {0 < seen < _ROWS}")
            raise
        told.write_text(f"{seen} rows")
        yield from ()

    broken = F.when(F.col("id") == broken_at, F.raise_error(F.lit("the database is gone"))).otherwise(F.col("id"))
    spark.range(0, _ROWS, 1, 1).select(broken.cast("long").alias("id")).mapInArrow(
        cast("Any", write), "id long"
    ).collect()


def _when_told(told: Path) -> str:
    """What the worker says: it may live longer than its job."""
    deadline = time.monotonic() + 20
    while not told.exists() or not told.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told.read_text()


def test_a_task_that_fails_in_the_jvm_is_an_error_in_the_worker(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="the database is gone"):
        _run(spark, tmp_path / "told", broken_at=_ROWS - 5_000)
    assert _when_told(tmp_path / "told") == "RetriableError after True"


def test_a_task_that_goes_well_has_all_rows(spark: SparkSession, tmp_path: Path) -> None:
    _run(spark, tmp_path / "told", broken_at=-1)
    assert _when_told(tmp_path / "told") == f"{_ROWS} rows"
