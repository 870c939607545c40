"""The Spark session of the benchmarks: the settings that jobs run with, in this process, so that it stays warm."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.runtime.process.session import START_CONF
from airflow_kconnect.submit.spark import find_spark_submit
from airflow_kconnect.submit.submit import spark_conf
from benchmarks.settings import HEAP_MB

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(folder: Path, master: str = "local[*]") -> SparkSession:
    """A local session, on all cores unless `master` says otherwise."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    own = {
        "spark.driver.memory": f"{HEAP_MB}m",
        "spark.log.level": "ERROR",
        "spark.local.dir": str(folder / "spark"),
        **START_CONF,
    }
    builder = SparkSession.builder.master(master).appName("benchmarks")
    for key, value in spark_conf(own, master=master, spark=find_spark_submit(), folder=folder).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
