"""The Spark session of the benchmarks: the settings that jobs run with, in this process, so that it stays warm."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(folder: Path) -> SparkSession:
    """A local session on all cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").appName("benchmarks")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.log.level": "ERROR",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
