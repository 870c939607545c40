"""Looks after an Iceberg table by Iceberg's own procedures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.upkeep import DAY_MS, Step, TableUpkeep
from airflow_kconnect.connectors.table.identifiers import text_literal

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_TARGET, _TARGET_DEFAULT = "write.target-file-size-bytes", 536_870_912
# Iceberg writes a file again if it is smaller than this part of the target.
_SMALL = 0.75
_ORPHANS_DAYS = 3  # Iceberg's default: writers of other programs may take long
_TOTALS = {"files": "total-data-files", "bytes": "total-files-size", "delete_files": "total-delete-files"}


class IcebergUpkeep:
    """One order for one table.

    :param name: its identifier in Spark's SQL.
    """

    def __init__(self, spark: SparkSession, name: str, order: TableUpkeep) -> None:
        self._spark, self._name, self._order = spark, name, order

    def run(self) -> dict[str, Any]:
        """The steps in their order; returns facts for the report."""
        before = self._totals()
        facts = self._found() if self._order.dry_run else self._done()
        after = self._totals()
        return {name: was if was == after[name] else [was, after[name]] for name, was in before.items()} | facts

    def _found(self) -> dict[str, Any]:
        """What would be done."""
        table, facts, limit = self._loaded(), dict[str, Any](), self._limit()
        upkeep = self._order.upkeep
        if upkeep.has(Step.COMPACT):
            target = int(table.properties().get(_TARGET) or _TARGET_DEFAULT)
            small = f"content = 0 AND file_size_in_bytes < {int(target * _SMALL)}"
            facts["small_files"] = self._spark.table(f"{self._name}.files").where(small).count()
        if upkeep.has(Step.EXPIRE):
            old = sum(snapshot.timestampMillis() < limit for snapshot in table.snapshots())
            current = table.currentSnapshot()
            facts["expired"] = old - (current is not None and current.timestampMillis() < limit)
        if upkeep.has(Step.ORPHANS):
            facts["orphans"] = len(self._orphans(dry_run=True))
        return facts

    def _done(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        upkeep = self._order.upkeep
        if upkeep.has(Step.COMPACT):
            (written,) = self._call("rewrite_data_files", options="map('remove-dangling-deletes', 'true')")
            facts["compacted"] = written.rewritten_data_files_count
            if self._totals()["delete_files"] and self._version() < 3:
                self._call("rewrite_position_delete_files")
        if upkeep.has(Step.METADATA) and self._loaded().currentSnapshot() is not None:
            self._call("rewrite_manifests")
        if upkeep.has(Step.EXPIRE):
            (removed,) = self._call("expire_snapshots", older_than=_literal(self._limit()), retain_last="1")
            facts["removed"] = sum(int(count or 0) for count in removed)
        if upkeep.has(Step.ORPHANS):
            facts["orphans"] = len(self._orphans(dry_run=False))
        return facts

    def _orphans(self, *, dry_run: bool) -> list[Row]:
        limit = min(self._order.older_than_ms, int(time.time() * 1000) - _ORPHANS_DAYS * DAY_MS)
        return self._call("remove_orphan_files", older_than=_literal(limit), dry_run=str(dry_run).lower())

    def _limit(self) -> int:
        """What is older may expire: not what proves that the table has the last plan of an application."""
        wanted, limit = set(self._order.applications), self._order.older_than_ms
        for snapshot in self._history():
            summary = snapshot.summary()
            mark = str(summary.get("published-wap-id") or summary.get("wap.id") or "")
            if (application := mark.rpartition(":")[0]) in wanted:
                wanted.remove(application)
                limit = min(limit, int(snapshot.timestampMillis()))
        return limit

    def _history(self) -> Iterator[Any]:
        """The table's snapshots, the current one first."""
        table = self._loaded()
        snapshot = table.currentSnapshot()
        while snapshot is not None:
            yield snapshot
            parent = snapshot.parentId()
            snapshot = None if parent is None else table.snapshot(parent)

    def _totals(self) -> dict[str, int]:
        table = self._loaded()
        snapshot = table.currentSnapshot()
        summary = {} if snapshot is None else snapshot.summary()
        counts = {name: int(summary.get(key) or 0) for name, key in _TOTALS.items()}
        counts["manifests"] = 0 if snapshot is None else snapshot.allManifests(table.io()).size()
        return counts | {"snapshots": len(list(table.snapshots()))}

    def _version(self) -> int:
        return int(self._loaded().operations().current().formatVersion())

    def _call(self, procedure: str, **arguments: str) -> list[Row]:
        jvm = self._spark._jvm
        assert jvm is not None
        found = jvm.org.apache.iceberg.spark.Spark3Util.catalogAndIdentifier(self._spark._jsparkSession, self._name)
        text = ", ".join(f"{key} => {value}" for key, value in {"table": text_literal(self._name), **arguments}.items())
        return self._spark.sql(f"CALL `{found.catalog().name()}`.system.{procedure}({text})").collect()

    def _loaded(self) -> Any:
        jvm = self._spark._jvm
        assert jvm is not None
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self._spark._jsparkSession, self._name)
        table.refresh()
        return table


def _literal(epoch_ms: int) -> str:
    return f"TIMESTAMP '{datetime.fromtimestamp(epoch_ms / 1000, UTC):%Y-%m-%d %H:%M:%S.%f} UTC'"
