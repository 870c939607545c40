"""Runs Spark jobs whose tasks return small report rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.error_cells import PADDING
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.report_rows import with_reports
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.writer import WriterSettings, split_writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Objects of one Spark version that another one cannot read.
_OTHER_VERSION = re.compile(r"InvalidClassException|local class incompatible|NoSuchMethodError|NoClassDefFoundError")
# A traceback of Python: its last line begins with the class of the error, whatever its name.
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+([\w.]+: .*)")
_SMALL_RECORD_BYTES = 4096
_BATCH_ROWS = 5000
_BATCH_BYTES = 64 * 1024 * 1024
_ROWS_KEY, _BYTES_KEY = (f"spark.sql.execution.arrow.{what}PerBatch" for what in ("maxRecords", "maxBytes"))
_NO_LIMIT = str(2**31 - 1)


def use_batches_of(spark: SparkSession, record_bytes: int) -> int | None:
    """Choose Arrow batches for records of about this size.

    With a limit in bytes, Spark adds up the sizes of all columns after each row, a fifth of the JVM's time. Small
    records do not need it: a record count limits the memory, as long as none is much larger.

    :param record_bytes: size of the largest record seen; 0 if there was none.
    :returns: the largest value, in bytes, that the batches can handle; None: any.
    """
    if 0 < record_bytes <= _SMALL_RECORD_BYTES:
        spark.conf.set(_ROWS_KEY, str(_BATCH_ROWS))
        spark.conf.set(_BYTES_KEY, _NO_LIMIT)
        return _BATCH_BYTES // _BATCH_ROWS
    if spark.conf.get(_BYTES_KEY, _NO_LIMIT) == _NO_LIMIT:
        spark.conf.set(_BYTES_KEY, str(_BATCH_BYTES))
    return None


def observed(df: DataFrame, *, padded: bool) -> tuple[DataFrame, Callable[[], int]]:
    """Count records as they pass: the count is available when the job is over.

    :param padded: there may be `PADDING` rows.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    observation = Observation()
    records = F.when(F.col("error").startswith(PADDING), None).otherwise(1) if padded else F.lit(1)
    counted = df.observe(observation, F.count(records).alias("rows"))
    return counted, lambda: int(observation.get["rows"])


def collect_reports(spark: SparkSession, rows: DataFrame, settings: WriterSettings) -> list[SplitReport]:
    """Write all splits; returns their reports.

    :raises RetriableError: a task died (a lost executor, a killed worker) more often than Spark retries.
    """
    reported = with_reports(rows, split_writer(settings))
    return [SplitReport(**json.loads(row.report)) for row in run_job(spark, reported)]


def run_job(spark: SparkSession, reported: DataFrame) -> Sequence[Any]:
    """Collect the report rows of a job, with Spark's failure as an error of airflow_kconnect."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        return reported.collect()
    except (PySparkException, Py4JError) as error:
        if isinstance(error, Py4JNetworkError) and (ended := jvm.unexpected_end()) is not None:
            raise ended from error
        raise RetriableError(f"the Spark job failed: {cause_of(str(error), spark.version)}") from error


def cause_of(text: str, version: str) -> str:
    """A one-line description of a Spark error.

    :param version: of the driver's Spark: named where executors or the master seem to have another one.
    """
    if not _OTHER_VERSION.search(text):
        return _cause(text)
    return f"{_cause(text)}. The driver has Spark {version}: master and executors must have the same version"


def _cause(text: str) -> str:
    """The lines of a Spark error that say what happened: a Python worker's last output, or the text of the innermost
    error, in Python or Java, preceded by that of a library that wrapped it.
    """
    if (words := _last_words(text)) is not None:
        return words
    lines = [line.strip().removeprefix(": ").removeprefix("Caused by: ") for line in text.splitlines() if line.strip()]
    in_python = set(_TRACEBACK.findall(text))
    named = (line for line in lines if line in in_python or re.match(r"[\w.]*(Error|Exception)\b.*: ", line))
    errors = list(dict.fromkeys(named))
    others = [line for line in errors if not line.startswith(("org.apache.spark.", "pyspark.", "py4j."))]
    if len(others) > 1 and errors[-1] == others[-1]:
        return f"{others[-2]} ({others[-1]})"
    return (errors or lines or ["no reason given"])[-1 if errors else 0]


def _last_words(text: str) -> str | None:
    """What a Python process of Spark wrote before it ended; None if that is not what happened.

    Spark's own error is that it could not read a number from that process.
    """
    match = re.search(r"Error from python worker:\n(.*?)\n\s*PYTHONPATH was:", text, re.DOTALL)
    lines = [line.strip() for line in match[1].splitlines() if line.strip()] if match else []
    if not lines:
        return None
    where = [line for line in lines if line.startswith("File ")]
    return f"a Python worker ended at its start: {lines[-1]}{f' ({where[-1]})' if where else ''}"
