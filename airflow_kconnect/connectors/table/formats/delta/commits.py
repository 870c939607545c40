"""The history of a Delta table, read from the newest commit on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.table.formats.delta.history import Commit, Mark

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_FIRST = 8


def commits(spark: SparkSession, name: str) -> Iterator[Commit]:
    """The commits of a table, as far as they are wanted."""
    limit, seen = _FIRST, None
    while True:
        rows = spark.sql(f"DESCRIBE HISTORY {name} LIMIT {limit}").collect()
        for row in rows:
            if seen is None or row["version"] < seen:
                seen = row["version"]
                yield _commit(spark, row)
        if len(rows) < limit:
            return
        limit *= 8


def _commit(spark: SparkSession, row: Row) -> Commit:
    parameters = row["operationParameters"] or {}
    is_restore = row["operation"] == "RESTORE"
    version, time = (parameters.get(name) if is_restore else None for name in ("version", "timestamp"))
    assert spark._jvm is not None
    return Commit(
        row["version"],
        row["operation"],
        int(row["timestamp"].timestamp() * 1000),
        Mark.read(row["userMetadata"]),
        row["operationMetrics"] or {},
        int(version) if version else None,
        spark._jvm.java.sql.Timestamp.valueOf(time).getTime() if time and not version else None,
    )
