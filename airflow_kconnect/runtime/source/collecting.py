"""Writes the splits of a source in a Spark job, whose rows are their reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from airflow_kconnect.runtime.report_rows import with_reports
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.writer import WriterSettings, split_writer
from airflow_kconnect.runtime.spark_jobs import run_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def collect_reports(spark: SparkSession, rows: DataFrame, settings: WriterSettings) -> list[SplitReport]:
    """Write all splits; returns their reports.

    :raises RetriableError: a task died (a lost executor, a killed worker) more often than Spark retries.
    """
    reported = with_reports(rows, split_writer(settings))
    return [SplitReport(**json.loads(row.report)) for row in run_job(spark, reported)]
