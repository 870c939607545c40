"""What Java says of disks that are full, or must not be written."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.connectors.table.catalogs.storage import storage_error

FULL = """org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\tat {frame}(Some.java:1)
"""


@pytest.mark.parametrize(
    ("frame", "where"),
    [
        ("org.apache.iceberg.parquet.ParquetWriter.close", "where its files are (java.io.IOException: No space left"),
        ("org.apache.spark.storage.DiskBlockObjectWriter.write", "in Spark's local folders, `spark.local.dir`"),
        ("org.apache.spark.shuffle.sort.UnsafeShuffleWriter.closeAndWriteOutput", "in Spark's local folders"),
    ],
)
def test_a_full_disk_is_named(frame: str, where: str) -> None:
    error = storage_error("table lake.a.b", FULL.format(frame=frame))
    assert isinstance(error, RetriableError)
    assert where in str(error) and "table lake.a.b" in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("java.io.IOException: Disk quota exceeded", RetriableError),
        ("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException: The DiskSpace quota of /lake", RetriableError),
        ("java.io.FileNotFoundException: /lake/f.parquet (Permission denied)", ConfigError),
        ("java.io.FileNotFoundException: /lake/f.parquet (Read-only file system)", ConfigError),
        ("org.apache.hadoop.security.AccessControlException: Permission denied: user=me, access=WRITE", ConfigError),
    ],
)
def test_each_text_says_whether_to_retry(text: str, kind: type[ConnectError]) -> None:
    assert type(storage_error("table t", text)) is kind


def test_other_errors_are_not_of_the_storage() -> None:
    assert (
        storage_error("table t", "java.io.FileNotFoundException: /lake/f.parquet (No such file or directory)") is None
    )
