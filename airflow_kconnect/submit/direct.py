"""Starts jobs on this machine by their Python: Spark's JVM is started by the job, if there is something for it to do.

See docs/decisions/0030 and 0038.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.machine.spark_home import python_path, spark_home
from airflow_kconnect.machine.spark_master import is_local
from airflow_kconnect.runs.spec import SPARK_OPTIONS
from airflow_kconnect.submit.spark import SparkSubmit, job_path

# In the order in which Spark looks for the driver's Python.
_CONF = ("spark.pyspark.driver.python", "spark.pyspark.python")
_ENVIRONMENT = ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")
_OF_WORKERS = "spark.pyspark.python"


def needs_no_spark(config: Mapping[str, Any], master: str, deploy_mode: str | None = None) -> bool:
    """Whether a job would use nothing of Spark, and its driver would run on this machine.

    :param config: of the connector; variables need not be resolved.
    """
    return driver_is_local(master, deploy_mode) and looks_hosted(texts_of(config)[0])


def starts_spark_itself(master: str, deploy_mode: str | None, spark: SparkSubmit) -> bool:
    """Whether a job can start Spark itself: its driver runs on this machine, with the PySpark of a Python.

    The spark-submit of another Spark is started as it is: it may be a script of the user's own.
    """
    return driver_is_local(master, deploy_mode) and spark.pyspark is not None


def driver_is_local(master: str, deploy_mode: str | None) -> bool:
    """Whether the whole job, its driver too, runs on this machine."""
    return is_local(master) and deploy_mode != "cluster"


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


def _with_spark(environment: Mapping[str, str], options: Sequence[str], conf: Mapping[str, Any]) -> dict[str, str]:
    """The environment of a job that starts Spark itself.

    :param environment: see `direct_environment`. :param options: of spark-submit, all before the application.
    :param conf: Spark's.
    """
    # As spark-submit sets them: texts have the same hashes in the driver and in its workers.
    result = {"PYTHONHASHSEED": "0", **environment, SPARK_OPTIONS: json.dumps(list(options))}
    if python := conf.get(_OF_WORKERS):
        result["PYSPARK_PYTHON"] = str(python)
    return result


def by_python(
    command: Sequence[str], environment: Mapping[str, str], conf: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """The command of spark-submit as that of a job which starts Spark itself, and its environment.

    :param command: the program, its options, the job and its arguments.
    :param environment: of spark-submit, see `submit_environment`.
    """
    application = list(command).index(str(job_path()))
    direct = direct_command(command[application + 1 :], conf)
    return direct, _with_spark(direct_environment(environment), command[1:application], conf)
