"""Records that are much larger than those before them: memory holds a bounded part of them at a time."""

from __future__ import annotations

import json
from collections.abc import Callable

from pyspark.sql import SparkSession

from airflow_kconnect.runtime.spark_jobs import use_batches_of
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import SCHEMALESS
from tests.support import unique
from tests.support.kafka import produce

_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


def test_large_records_after_small_ones_are_read_with_batches_bounded_by_bytes(
    topic: Callable[..., str], bootstrap: str, run_here: Run, spark: SparkSession
) -> None:
    name = topic()
    produce(bootstrap, name, [json.dumps({"n": n}) for n in range(200)])
    produce(bootstrap, name, [json.dumps({"n": n, "text": "x" * 300_000}) for n in range(200, 230)])
    config = {"name": unique("sink"), "connector.class": "VerifiableSink", "topics": name, **SCHEMALESS}
    report = run_here(config)
    assert (report.records["written"], report.complete, report.notes["rounds"]) == (230, True, 2)
    assert spark.conf.get(_BYTES) == str(64 * 1024 * 1024)


def test_batches_are_bounded_where_no_run_has_set_their_size(spark: SparkSession) -> None:
    spark.conf.unset(_BYTES)
    use_batches_of(spark, 0)
    assert spark.conf.get(_BYTES) == str(64 * 1024 * 1024)
