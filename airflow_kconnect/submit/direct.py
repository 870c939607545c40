"""Starts the job of a hosted Java connector without spark-submit, whose JVM would have nothing to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.hosting.inspection import looks_hosted
from airflow_kconnect.machine.spark_home import python_path, spark_home
from airflow_kconnect.machine.spark_master import is_local
from airflow_kconnect.submit.spark import job_path

# In the order in which Spark looks for the driver's Python.
_CONF = ("spark.pyspark.driver.python", "spark.pyspark.python")
_ENVIRONMENT = ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")


def needs_no_spark(config: Mapping[str, Any], master: str, deploy_mode: str | None = None) -> bool:
    """Whether a job would use nothing of Spark, and its driver would run on this machine.

    :param config: of the connector; variables need not be resolved.
    """
    if not is_local(master) or deploy_mode == "cluster":
        return False
    return looks_hosted(texts_of(config)[0])


def direct_command(arguments: Sequence[str], conf: Mapping[str, Any]) -> list[str]:
    """The command of the job, with the Python that Spark would start it with.

    :param arguments: of the job. :param conf: Spark's.
    """
    chosen = [*(conf.get(key) for key in _CONF), *(os.environ.get(name) for name in _ENVIRONMENT)]
    return [str(next(filter(None, chosen), sys.executable)), str(job_path()), *arguments]


def direct_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment that Spark would start the job's Python with.

    :param environment: of spark-submit, see `submit_environment`.
    """
    result = {**environment, "PYTHONUNBUFFERED": "1"}
    if (home := spark_home()) is not None:
        paths = [*python_path(home), environment.get("PYTHONPATH")]
        result |= {"SPARK_HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return result
