"""What has changed in a Delta table between two versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError
from airflow_kconnect.connectors.table.source.change_logs import (
    CURE,
    DELETED,
    KIND,
    ORDER,
    UPSERTED,
    ChangeLog,
    Changes,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NOT_RECORDED = "DELTA_MISSING_CHANGE_DATA"
_OTHER_COLUMNS = re.compile(r"DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_\w+")
_REMOVED = re.compile(r"DELTA_CHANGE_DATA_FILE_NOT_FOUND|FILE_NOT_EXIST|FileNotFoundException|DELTA_FILE_NOT_FOUND\w*")
_OLD_KINDS = ("delete", "update_preimage")
_COUNTED = ("numOutputRows", "numUpdatedRows", "numDeletedRows", "numTargetRowsUpdated", "numTargetRowsDeleted")
"""Metrics of commits; some count rows that were only copied too."""


class DeltaChanges(ChangeLog):
    """Versions; what happens to rows is recorded if the table has its change data feed on."""

    state = "version"

    def newest(self) -> int | None:
        version = int(self._now().version())
        return None if version < 0 else version

    def check(self, start: int | None, end: int) -> None:
        newest = self.newest()
        oldest = int(self._jvm.org.apache.spark.sql.delta.DeltaHistoryManager.getEarliestDeltaFile(self._log()))
        if newest is None or end > newest:
            raise self.gone(end)
        if start is not None and (start > end or start + 1 < oldest):
            raise self.gone(start)

    def size(self, start: int | None, end: int) -> int | None:
        if start is None:
            # From the log, where it knows the number of rows in each file.
            return self.whole(end).count()
        commits = self.spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT {(self.newest() or end) - start}")
        metrics = [row["operationMetrics"] or {} for row in commits.where(f"version <= {end}").collect()]
        return sum(int(each.get(name, 0)) for each in metrics for name in _COUNTED)

    def changes(self, start: int, end: int) -> Changes:
        from pyspark.sql import functions as F

        reader = self.spark.read.option("readChangeFeed", "true").option("startingVersion", start + 1)
        rows = reader.option("endingVersion", end).table(self.table)
        if self.skipped:
            rows = self._only_added(rows)
        kind = F.when(F.col("_change_type").isin(*_OLD_KINDS), DELETED).otherwise(UPSERTED)
        rows = rows.withColumns({KIND: kind, ORDER: F.col("_commit_version").cast("long")}).drop(
            "_change_type", "_commit_version", "_commit_timestamp"
        )
        return Changes(rows, only_added=bool(self.skipped))

    def identity(self) -> str | None:
        return str(self._now().metadata().id())

    def explained(self, failure: str) -> ConnectError | None:
        if _NOT_RECORDED in failure:
            return ConfigError(
                {"table.name": [f"{self.table} does not record changes: set its property delta.enableChangeDataFeed to"
                                " true; what has changed before that has to be read as a whole (reset the offsets)"]}
            )  # fmt: skip
        if _OTHER_COLUMNS.search(failure):
            return DataError(
                f"table {self.table} has got other columns since it was read last (renamed, removed or of another"
                f" type), and Delta does not read changes across that. {CURE}"
            )
        if _REMOVED.search(failure):
            return DataError(f"table {self.table}: files with its changes were removed, as by VACUUM. {CURE}")
        return None

    def _only_added(self, rows: DataFrame) -> DataFrame:
        """Without commits that have deleted or changed any row."""
        from pyspark.sql import functions as F

        others = rows.where(F.col("_change_type") != "insert").select("_commit_version").distinct().collect()
        return rows.where(~F.col("_commit_version").isin([row[0] for row in others])) if others else rows

    def _now(self) -> Any:
        nothing = self._jvm.scala.Option.empty()
        return self._log().update(False, nothing, nothing)

    def _log(self) -> Any:
        return self._jvm.io.delta.tables.DeltaTable.forName(self.spark._jsparkSession, self.table).deltaLog()
