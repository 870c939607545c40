"""What a user is shown of Spark's errors."""

from __future__ import annotations

from airflow_kconnect.runtime.process.spark_errors import cause_of

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
        assert cause_of(_AT_START, "4.3.0") == (
            "a Python worker ended at its start: ModuleNotFoundError: No module named 'does_not_exist'"
            ' (File "/home/ann/grp.py", line 1, in <module>)'
        )

    def test_a_worker_that_said_nothing_leaves_sparks_own_error(self) -> None:
        silent = _AT_START.replace(_AT_START[_AT_START.index("  Trace") : _AT_START.index("PYTHONPATH")], "")

        assert "EOFException" in cause_of(silent, "4.3.0")

    def test_executors_of_another_version_are_named_as_the_reason(self) -> None:
        text = (
            "Job aborted due to stage failure\njava.io.InvalidClassException: org.apache.spark.scheduler.Task; local"
            " class incompatible: stream classdesc serialVersionUID = 1, local class serialVersionUID = 2\n"
        )

        assert "The driver has Spark 4.3.0: master and executors must have the same version" in cause_of(text, "4.3.0")

    def test_the_first_error_of_java_is_found_behind_py4js_colon(self) -> None:
        text = "An error occurred while calling None.SparkSession.\n: java.lang.IllegalStateException: Stopped.\n\tat x"

        assert cause_of(text, "4.3.0") == "java.lang.IllegalStateException: Stopped."

    def test_an_error_in_python_is_found_whatever_its_class_is_called(self) -> None:
        text = (
            "org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown from the Python"
            ' worker: Traceback (most recent call last):\n  File "/a.py", line 98, in read\n    yield from read()\n'
            "pyarrow.lib.ArrowInvalid: Negative buffer resize\n SQLSTATE: 38000\n\tat org.apache.spark.Some(A.scala:1)"
        )

        assert cause_of(text, "4.3.0") == "pyarrow.lib.ArrowInvalid: Negative buffer resize"
