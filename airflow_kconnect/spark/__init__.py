"""`spark.read.format("kconnect")`: Python sources as a data source of PySpark, without Kafka.

Importing this imports neither PySpark nor Airflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(
    spark: SparkSession,
    *plugins: Callable[..., Any] | str | Path,
    worker: Mapping[str, Any] | str | Path | None = None,
) -> None:
    """Make ``spark.read.format("kconnect")`` known in a session.

    Its options are the keys of a connector: ``connector.class`` and what this needs. It reads what the source has, and
    returns a DataFrame; see docs/guides/spark-data-source.md. Called again, it adds to what it was given before.

    :param plugins: sources that are not installed: functions with `@source` and connector classes, also of a notebook,
        and files with such. Their code goes to the executors.
    :param worker: keys of a worker, or a file with them, for its ``config.providers``: with them variables in options
        are resolved. None: what an earlier call has said; without one, variables of `file`, `dir` and `env`.
    :raises ConfigError: a file cannot be read, or is not Python. :raises TypeError: something is not a source.
    """
    from airflow_kconnect.spark.plugins import registered
    from airflow_kconnect.spark.source import data_source

    spark.dataSource.register(data_source(registered(plugins, worker)))
