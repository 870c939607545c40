"""What a user is shown of Spark's errors."""

from __future__ import annotations

from airflow_kconnect.runtime.spark_jobs import _cause

_AT_START = """An error occurred while calling o77.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times:
Error from python worker:
  Traceback (most recent call last):
    File "<frozen runpy>", line 189, in _run_module_as_main
    File "/home/ann/grp.py", line 1, in <module>
      import does_not_exist
  ModuleNotFoundError: No module named 'does_not_exist'
PYTHONPATH was:
  /spark/python/lib/pyspark.zip
org.apache.spark.SparkException: EOFException occurred while reading the port number from pyspark.daemon's stdout.
\tat org.apache.spark.api.python.PythonWorkerFactory.startDaemon(PythonWorkerFactory.scala:289)
Caused by: java.io.EOFException: none
"""


class TestCause:
    def test_the_last_words_of_a_python_worker_come_first(self) -> None:
        assert _cause(_AT_START) == (
            "a Python worker ended at its start: ModuleNotFoundError: No module named 'does_not_exist'"
            ' (File "/home/ann/grp.py", line 1, in <module>)'
        )

    def test_a_worker_that_said_nothing_leaves_sparks_own_error(self) -> None:
        silent = _AT_START.replace(_AT_START[_AT_START.index("  Trace") : _AT_START.index("PYTHONPATH")], "")

        assert "EOFException" in _cause(silent)
