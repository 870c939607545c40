"""The job's side of a mailbox: the run spec from a store, and at the end how the job has ended, into the store.

By Hadoop's file systems in Spark's JVM: they have the logins of the cluster's machines, and need no library in Python.
"""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.connect.errors import RetriableError, first_line
from airflow_kconnect.runs.mailbox import END, RUN_SPEC

_WHY_NOT_THERE = (
    "either another run has removed it, as no worker and no triggerer had waited for this job for a day; or the "
    "service repeats the job by itself, which it must not do. A retry of the task starts a new job"
)


class Mailbox:
    """A folder of a run in a store.

    :param address: of the folder, with a scheme that Spark on this machine can read.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._taken = False

    def take_run_spec(self) -> dict[str, Any]:
        """Read the run spec and remove it: it may contain secrets.

        :raises RetriableError: it is not there any more: another job may be started with a new one. Or the store is
            unavailable, or does not let this job in.
        """
        try:
            path = self._path(RUN_SPEC)
            files = path.getFileSystem(self._hadoop_conf())
            if not files.exists(path):
                raise RetriableError(f"{path.toString()} is not there: {_WHY_NOT_THERE}")
            stream = files.open(path)
            try:
                data = bytes(stream.readAllBytes())
            finally:
                stream.close()
            files.delete(path, False)
            self._taken = True
        except _java_error() as error:
            raise RetriableError(f"the run spec cannot be read from {self.address}: {_first(error)}") from error
        return dict(json.loads(data))

    def leave_end(self, lines: str) -> None:
        """Write how the job has ended; not if it has not taken the run spec: another attempt's end may be there.

        :raises RetriableError: the store is unavailable.
        """
        if not self._taken:
            return
        try:
            path = self._path(END)
            files = path.getFileSystem(self._hadoop_conf())
            files.setWriteChecksum(False)  # a folder of this machine would have a file with it next to this one
            stream = files.create(path, True)
            try:
                stream.write(bytearray(lines, "utf-8"))
            finally:
                stream.close()
        except _java_error() as error:
            raise RetriableError(f"the report cannot be left in {self.address}: {_first(error)}") from error

    def _path(self, name: str) -> Any:
        return _jvm().org.apache.hadoop.fs.Path(f"{self.address}/{name}")

    def _hadoop_conf(self) -> Any:
        from pyspark import SparkConf, SparkContext

        if (context := SparkContext._active_spark_context) is not None:
            return context._jsc.hadoopConfiguration()
        jvm = _jvm()
        return jvm.org.apache.spark.deploy.SparkHadoopUtil.get().newConfiguration(SparkConf()._jconf)


def is_address(text: str) -> bool:
    """Whether the argument of a job is the address of a mailbox, not the path of a run spec."""
    return "://" in text


def _jvm() -> Any:
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    return SparkContext._jvm


def _java_error() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError

    return (Py4JError,)


def _first(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return first_line(str(java.toString()) if java is not None else str(error))
