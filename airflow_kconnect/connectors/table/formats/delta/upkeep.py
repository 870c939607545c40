"""Looks after a table of Delta Lake by Delta's own commands."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.upkeep import Step, TableUpkeep
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.session_conf import with_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HOUR_MS = 3_600_000
_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_CHECKED_HOURS = 168
_LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"  # 10,000 tasks, however few files there are
_LOGGED = "spark.databricks.delta.vacuum.logging.enabled"  # how many files it has removed


class DeltaUpkeep:
    """One order for one table.

    Which plans a table has is in its log, and stays there: nothing that is removed here proves anything.

    :param name: its identifier in Spark's SQL.
    """

    def __init__(self, spark: SparkSession, name: str, order: TableUpkeep) -> None:
        self._spark, self._name, self._order = spark, name, order

    def run(self) -> dict[str, Any]:
        """The steps in their order; returns facts for the report.

        :raises ConfigError: less is to be kept than Delta allows.
        """
        upkeep, dry_run = self._order.upkeep, self._order.dry_run
        removes = upkeep.has(Step.EXPIRE) or upkeep.has(Step.ORPHANS)
        hours = self._hours() if removes else 0
        before, facts = self._totals(), dict[str, Any]()
        if upkeep.has(Step.COMPACT) and not dry_run:
            (done,) = self._spark.sql(f"OPTIMIZE {self._name}").collect()
            facts["compacted"] = done.metrics.numFilesRemoved
        if removes:
            facts["removed"] = self._vacuum(hours, dry_run=dry_run)
        if upkeep.has(Step.METADATA) and not dry_run:
            self._checkpoint()
        after = self._totals()
        return {
            name: before[name] if before[name] == after[name] else [before[name], after[name]] for name in before
        } | facts

    def _hours(self) -> int:
        hours = max(math.ceil((int(time.time() * 1000) - self._order.older_than_ms) / _HOUR_MS), 0)
        checked = str(self._spark.conf.get(_CHECK, "true")).lower() != "false"
        if checked and hours < _CHECKED_HOURS:
            text = f"Delta keeps at least {_CHECKED_HOURS // 24} days, unless `{_CHECK}` of Spark is false"
            raise ConfigError({"keep_days": [f"{self._order.upkeep.keep_days:g} is too little: {text}"]})
        return hours

    def _vacuum(self, hours: int, *, dry_run: bool) -> int:
        """How many files it has removed, or would remove."""
        statement = f"VACUUM {self._name} RETAIN {hours} HOURS"
        conf = {_LISTING: str(max(8, 4 * self._spark.sparkContext.defaultParallelism)), _LOGGED: "true"}
        with with_conf(self._spark, conf):
            if dry_run:
                return self._spark.sql(f"{statement} DRY RUN").count()
            self._spark.sql(statement)
        metrics = self._newest().operationMetrics or {}
        return int(metrics.get("numDeletedFiles") or 0)

    def _checkpoint(self) -> None:
        jvm, session = self._spark._jvm, self._spark._jsparkSession
        assert jvm is not None
        jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, self._detail().location).checkpoint()

    def _totals(self) -> dict[str, int]:
        detail = self._detail()
        return {"files": detail.numFiles, "bytes": detail.sizeInBytes, "version": self._newest().version}

    def _newest(self) -> Any:
        """The last entry of the history."""
        (newest,) = self._spark.sql(f"DESCRIBE HISTORY {self._name} LIMIT 1").collect()
        return newest

    def _detail(self) -> Any:
        (detail,) = self._spark.sql(f"DESCRIBE DETAIL {self._name}").collect()
        return detail
