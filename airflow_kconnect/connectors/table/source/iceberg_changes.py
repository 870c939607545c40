"""What has changed in an Iceberg table between two snapshots."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connectors.table.identifiers import quoted, text_literal
from airflow_kconnect.connectors.table.source.change_logs import (
    DELETED,
    KIND,
    ORDER,
    UPSERTED,
    ChangeLog,
    Changes,
)
from airflow_kconnect.connectors.table.source.config import DELETIONS, REWRITES
from airflow_kconnect.connectors.table.source.file_differences import FileDifferences

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_APPEND, _REPLACE = "append", "replace"
_SKIPPABLE = {DELETIONS: "delete", REWRITES: "overwrite"}


class IcebergChanges(ChangeLog):
    """Snapshots; their order is that of the table's history.

    Iceberg's own log of changes knows data files only. Where rows were deleted by delete files or deletion vectors, and
    where the table was brought back to another state, what has changed is the difference between two states: of the
    files that only one of them has.
    """

    state = "snapshot"
    _differing: FileDifferences | None = None

    def newest(self) -> int | None:
        snapshot = self._loaded().currentSnapshot()
        return None if snapshot is None else int(snapshot.snapshotId())

    def check(self, start: int | None, end: int) -> None:
        table = self._loaded()
        for state in (end, start):
            if state is not None and table.snapshot(state) is None:
                raise self.gone(state)
        # From a state that was undone there is a difference to the present one, but no log.
        if start is not None and not self.keys and not self._is_ancestor(table, start, end):
            raise self.gone(start)

    def size(self, start: int | None, end: int) -> int | None:
        table = self._loaded()
        if start is None:
            return _summed([table.snapshot(end)], "total-records")
        if not self._is_ancestor(table, start, end):
            return None
        between = [each for each in self._between(table, start, end) if each.operation() != _REPLACE]
        return _summed(between, "added-records", "deleted-records", "added-position-deletes")

    def changes(self, start: int, end: int) -> Changes:
        table = self._loaded()
        if not self._is_ancestor(table, start, end):
            return self._differences(table, [(start, end)])
        between = self._between(table, start, end)
        operations = {each.operation() for each in between} - {_REPLACE}
        marks = any(not each.deleteManifests(table.io()).isEmpty() for each in between if each.operation() != _REPLACE)
        skipped = {_SKIPPABLE[kind] for kind in self.skipped}
        if operations <= {_APPEND} | skipped and (marks or not self.keys or operations - {_APPEND}):
            return self._appended(start, end)
        if not marks and (self.keys or operations <= {_APPEND}):
            return Changes(self._kinds(self._read(start, end, ".changes")), only_added=operations <= {_APPEND})
        if self.keys:
            return self._differences(table, segments(start, between))
        if marks:
            raise self.unkeyed()
        return Changes(self._kinds(self._without_carried(start, end)))

    def finished(self) -> None:
        if self._differing is not None:
            self._differing.release()
            self._differing = None

    def _appended(self, start: int, end: int) -> Changes:
        """What snapshots that append have added; others are left out."""
        from pyspark.sql import functions as F

        rows = self._read(start, end).withColumns({KIND: F.lit(UPSERTED), ORDER: F.lit(0).cast("long")})
        return Changes(rows, only_added=True)

    def _differences(self, table: Any, segments: Sequence[tuple[int, int]]) -> Changes:
        from pyspark.sql import functions as F

        self._differing = self._differing or FileDifferences(self.spark, table)
        none = self.spark.table(self.table).where("false").withColumns({KIND: F.lit(""), ORDER: F.lit(0).cast("long")})
        found = []
        for order, (before, after) in enumerate(segments):
            for kind, rows in zip((DELETED, UPSERTED), self._differing.between(before, after), strict=True):
                if rows is not None:
                    rows = rows.select(*(quoted(name) for name in none.columns if name not in (KIND, ORDER)))
                    found.append(rows.withColumns({KIND: F.lit(kind), ORDER: F.lit(order).cast("long")}))
        return Changes(reduce(lambda one, other: one.unionByName(other), found, none))

    def _read(self, start: int, end: int, of: str = "") -> DataFrame:
        reader = self.spark.read.option("start-snapshot-id", start).option("end-snapshot-id", end)
        return reader.table(f"{self.table}{of}")

    def _without_carried(self, start: int, end: int) -> DataFrame:
        """The log without rows that were only copied from one file to another; none of them has a key."""
        from pyspark.errors import IllegalArgumentException

        catalog, _, rest = self.table.partition(".")
        view = f"kconnect_{uuid.uuid4().hex}"
        options = f"map('start-snapshot-id', '{start}', 'end-snapshot-id', '{end}')"
        try:
            self.spark.sql(
                f"CALL {catalog}.system.create_changelog_view(table => {text_literal(rest)}, options => {options},"
                f" changelog_view => {text_literal(view)}, compute_updates => false)"
            )
        except IllegalArgumentException as error:  # columns that cannot be compared, such as maps
            raise self.unkeyed() from error
        rows = self.spark.table(view)
        self.spark.catalog.dropTempView(view)
        return rows

    @staticmethod
    def _kinds(rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        kind = F.when(F.col("_change_type") == "DELETE", DELETED).otherwise(UPSERTED)
        return rows.withColumns({KIND: kind, ORDER: F.col("_change_ordinal").cast("long")}).drop(
            "_change_type", "_change_ordinal", "_commit_snapshot_id"
        )

    def _is_ancestor(self, table: Any, start: int, end: int) -> bool:
        return bool(self._jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(table, end, start))

    def _between(self, table: Any, start: int, end: int) -> list[Any]:
        """The snapshots after one until another, the oldest first."""
        newest_first = self._jvm.org.apache.iceberg.util.SnapshotUtil.ancestorsBetween(table, end, start)
        found, each = [], newest_first.iterator()
        while each.hasNext():
            found.append(each.next())
        return found[::-1]

    def _loaded(self) -> Any:
        table = self._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.table)
        table.refresh()
        return table


def segments(start: int, snapshots: Sequence[Any]) -> list[tuple[int, int]]:
    """Pairs of states with nothing in between that only puts rows into other files, such as a compaction.

    :param snapshots: after `start`, the oldest first.
    """
    segments, begin, reached = [], start, start
    for snapshot in snapshots:
        number = int(snapshot.snapshotId())
        if snapshot.operation() == _REPLACE:
            segments.append((begin, reached))
            begin = number
        reached = number
    segments.append((begin, reached))
    return [(one, other) for one, other in segments if one != other]


def _summed(snapshots: Sequence[Any], *names: str) -> int | None:
    """Numbers of summaries; None: one of them does not say how many records it has added or holds."""
    total = 0
    for snapshot in snapshots:
        summary = snapshot.summary()
        if all(summary.get(name) is None for name in names):
            return None
        total += sum(int(summary.get(name) or 0) for name in names)
    return total
