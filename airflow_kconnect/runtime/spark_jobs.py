"""Runs Spark jobs whose tasks return small report rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.error_cells import PADDING
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.spark_errors import cause_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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


def run_job(reported: DataFrame) -> Sequence[Any]:
    """Collect the report rows of a job. :raises RetriableError: Spark has failed."""
    with job_errors():
        return reported.collect()


@contextmanager
def job_errors() -> Iterator[None]:
    """Within the block a failure of Spark is an error of airflow_kconnect. :raises RetriableError: Spark has failed."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise job_error(error) from error


def job_error(error: Exception) -> RetriableError:
    """What the failure of a job means. The JVM, which may be gone, is not asked."""
    from py4j.protocol import Py4JNetworkError
    from pyspark import __version__

    if isinstance(error, Py4JNetworkError) and (ended := jvm.unexpected_end()) is not None:
        return ended
    return RetriableError(f"the Spark job failed: {cause_of(str(error), __version__)}")
