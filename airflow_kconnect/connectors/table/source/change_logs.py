"""What has changed in a table between two of its states, by format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.table.formats.registry import DELTA, ICEBERG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KIND, ORDER = "kconnect_kind", "kconnect_order"
"""Columns next to those of the table: what has happened to a row (`UPSERTED`, `DELETED`), and after which commit."""
UPSERTED, DELETED = "u", "d"
_CURE = (
    "Reset the connector's offsets (`kconnect offsets reset`) to read the table as a whole, or alter them to a state"
    " that it still has"
)


class ChangeLog(ABC):
    """The states of one table, which are numbers.

    :param table: its identifier, quoted. :param keys: columns that identify a row; empty: rows are only added.
    """

    state: str
    """What an offset calls a state."""

    def __init__(self, spark: SparkSession, table: str, keys: Sequence[str]) -> None:
        self.spark, self.table, self.keys = spark, table, tuple(keys)

    @abstractmethod
    def newest(self) -> int | None:
        """The present state; None: the table has never held anything."""

    @abstractmethod
    def check(self, start: int | None, end: int) -> None:
        """:raises DataError: what has changed between two states can no longer be read."""

    def whole(self, at: int) -> DataFrame:
        """All rows of a state."""
        return self.spark.sql(f"SELECT * FROM {self.table} VERSION AS OF {at}")

    @abstractmethod
    def changes(self, start: int, end: int) -> DataFrame:
        """What has changed after one state until another: rows with `KIND` and `ORDER`."""

    def gone(self, state: int) -> DataError:
        """The error for a state that the table does not have any more."""
        return DataError(f"table {self.table} no longer has {self.state} {state}, up to which it was read. {_CURE}")


class IcebergChanges(ChangeLog):
    """Snapshots; their order is that of the table's history."""

    state = "snapshot"

    def newest(self) -> int | None:
        snapshot = self._loaded().currentSnapshot()
        return None if snapshot is None else int(snapshot.snapshotId())

    def check(self, start: int | None, end: int) -> None:
        table = self._loaded()
        if table.snapshot(end) is None:
            raise self.gone(end)
        jvm = self.spark._jvm
        assert jvm is not None
        if start is not None and not jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(table, end, start):
            raise self.gone(start)

    def changes(self, start: int, end: int) -> DataFrame:
        from pyspark.sql import functions as F

        catalog, _, rest = self.table.partition(".")
        view = f"kconnect_changes_{abs(start)}_{abs(end)}"
        arguments = {
            "table": _text(rest),
            "options": f"map('start-snapshot-id', '{start}', 'end-snapshot-id', '{end}')",
            "changelog_view": _text(view),
        }
        if self.keys:
            arguments["identifier_columns"] = f"array({', '.join(map(_text, self.keys))})"
        named = ", ".join(f"{name} => {value}" for name, value in arguments.items())
        self.spark.sql(f"CALL {catalog}.system.create_changelog_view({named})")
        rows = self.spark.table(view).where(F.col("_change_type") != "UPDATE_BEFORE")
        kind = F.when(F.col("_change_type") == "DELETE", DELETED).otherwise(UPSERTED)
        return rows.withColumns({KIND: kind, ORDER: F.col("_change_ordinal").cast("long")}).drop(
            "_change_type", "_change_ordinal", "_commit_snapshot_id"
        )

    def _loaded(self) -> Any:
        jvm = self.spark._jvm
        assert jvm is not None
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.table)
        table.refresh()
        return table


class DeltaChanges(ChangeLog):
    """Versions; what happens to rows is recorded if the table has its change data feed on."""

    state = "version"

    def newest(self) -> int | None:
        row = self.spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT 1").head()
        return None if row is None else int(row["version"])

    def check(self, start: int | None, end: int) -> None:
        oldest = self.spark.sql(f"DESCRIBE HISTORY {self.table}").agg({"version": "min"}).head()
        first = int(oldest[0]) if oldest is not None and oldest[0] is not None else 0
        if start is not None and start + 1 < first:
            raise self.gone(start)

    def changes(self, start: int, end: int) -> DataFrame:
        from pyspark.errors import PySparkException
        from pyspark.sql import functions as F

        reader = self.spark.read.option("readChangeFeed", "true").option("startingVersion", start + 1)
        try:
            rows = reader.option("endingVersion", end).table(self.table)
        except PySparkException as error:
            if "CHANGE_DATA" not in str(error) and "change data" not in str(error).lower():
                raise
            raise ConfigError(
                {"table.name": [f"{self.table} does not record changes: set its property delta.enableChangeDataFeed to"
                                " true; what has changed before that has to be read as a whole (reset the offsets)"]}
            ) from error  # fmt: skip
        kind = F.when(F.col("_change_type") == "delete", DELETED).otherwise(UPSERTED)
        rows = rows.where(F.col("_change_type") != "update_preimage")
        return rows.withColumns({KIND: kind, ORDER: F.col("_commit_version").cast("long")}).drop(
            "_change_type", "_commit_version", "_commit_timestamp"
        )


def change_log(format_: str, spark: SparkSession, table: str, keys: Sequence[str]) -> ChangeLog:
    """The change log of a table of a format that has one."""
    return {ICEBERG: IcebergChanges, DELTA: DeltaChanges}[format_](spark, table, keys)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
