"""What a split is a part of: rows of a table between two states, with values in a range, or all of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.table.formats.registry import CHANGEABLE, DELTA, ICEBERG
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.table.source.change_logs import CURE, KIND, ORDER, UPSERTED, ChangeLog, Changes
from airflow_kconnect.connectors.table.source.config import CHANGES, INCREMENTING, NOTHING, SourceSettings
from airflow_kconnect.connectors.table.source.delta_changes import DeltaChanges
from airflow_kconnect.connectors.table.source.iceberg_changes import IcebergChanges
from airflow_kconnect.connectors.table.source.placing import has_unordered, in_order, in_parts, settled

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import types as T


class SourceTable:
    """A table of a configuration. :param name: of the connector, for errors."""

    def __init__(self, spark: SparkSession, settings: SourceSettings, name: str) -> None:
        self._spark, self._settings, self._name = spark, settings, name
        self.log = _log_of(spark, settings)
        self._changes: dict[tuple[int, int, int | None], Changes] = {}

    def present(self) -> int | None:
        """The state in which the table is now; None: it has none that could be read later."""
        return None if self.log is None else self.log.newest()

    def rows(self, at: int | None) -> DataFrame:
        """All rows. :param at: of this state."""
        settings = self._settings
        if at is not None and self.log is not None:
            return self.log.whole(at)
        reader = self._spark.read.options(**settings.options)
        if settings.table is not None:
            return reader.table(settings.table)
        return reader.format(settings.format).load(settings.path)

    def between(self, start: int, end: int, at: int | None) -> Changes:
        """What splits from `start` to `end` have together; found out once.

        :param at: the state that is read in the modes other than `CHANGES`.
        :raises ConfigError: columns of the configuration are not there, or not what they have to be.
        """
        if (start, end, at) not in self._changes:
            changes = self._between(start, end, at)
            self._check(changes.rows.schema)
            self._changes[start, end, at] = changes
        return self._changes[start, end, at]

    def _between(self, start: int, end: int, at: int | None) -> Changes:
        from pyspark.sql import functions as F

        settings, log = self._settings, self.log
        if settings.mode == CHANGES:
            assert log is not None
            log.check(None if start == NOTHING else start, end)
            if start != NOTHING:
                return log.changes(start, end)
            at = end
        rows = self.rows(at)
        if settings.mode == INCREMENTING:
            rows = rows.where((self.column > start) & (self.column <= end))
        return Changes(rows.withColumns({KIND: F.lit(UPSERTED), ORDER: F.lit(0).cast("long")}), only_added=True)

    @property
    def column(self) -> Column:
        """The one whose values only grow."""
        from pyspark.sql import functions as F

        assert self._settings.column is not None
        return F.col(quoted(self._settings.column))

    def parts(self, changes: Changes, parts: int, wanted: Sequence[int]) -> DataFrame:
        """Some of that many parts, a Spark partition for each."""
        placed = in_parts(changes.rows, self._by(changes.rows), parts, wanted)
        return in_order(placed) if changes.only_added else settled(placed, self._by(changes.rows))

    def columns_mark(self, changes: Changes) -> int:
        """What differs if the columns are others that say which row is in which part."""
        schema = changes.rows.schema
        described = [f"{name} {schema[name].dataType.simpleString()}" for name in self._by(changes.rows)]
        return zlib.crc32("\n".join(described).encode())

    def other_columns(self) -> DataError:
        """The error for a plan that was begun when the table had others."""
        return DataError(f"table {self._settings.name} has got other columns while it was read by a run. {CURE}")

    def check_growing(self, schema: T.StructType) -> None:
        """:raises ConfigError: the column of `INCREMENTING` has no whole numbers, or is not there."""
        from pyspark.sql import types as T

        name = self._settings.column
        if name not in schema.names:
            raise self._missing("incrementing.column.name", [str(name)], schema)
        type_ = schema[name].dataType
        if not isinstance(type_, T.IntegralType) and not (isinstance(type_, T.DecimalType) and type_.scale == 0):
            text = f"is {name}, a column of the type {type_.simpleString()}: choose one of whole numbers"
            raise ConfigError({"incrementing.column.name": [text]}, self._name)

    def _check(self, schema: T.StructType) -> None:
        keys = self._settings.keys
        if missing := [key for key in keys if key not in schema.names]:
            raise self._missing("pk.fields", missing, schema)
        if maps := [key for key in keys if has_unordered(schema[key].dataType)]:
            text = (
                f"has {', '.join(maps)}, of the type {schema[maps[0]].dataType.simpleString()}, which identifies no row"
            )
            raise ConfigError({"pk.fields": [text]}, self._name)

    def _missing(self, key: str, names: Sequence[str], schema: T.StructType) -> ConfigError:
        there = ", ".join(name for name in schema.names if name not in (KIND, ORDER))
        text = f"{', '.join(names)}: table {self._settings.name} has no such column; it has {there}"
        return ConfigError({key: [text]}, self._name)

    def _by(self, rows: DataFrame) -> list[str]:
        if self._settings.mode == INCREMENTING:
            return [str(self._settings.column)]
        return list(self._settings.keys) or [name for name in rows.columns if name not in (KIND, ORDER)]


def _log_of(spark: SparkSession, settings: SourceSettings) -> ChangeLog | None:
    """The change log of a table of a format that has one; Iceberg's has to be in a catalog."""
    if settings.format not in CHANGEABLE or (settings.format == ICEBERG and settings.table is None):
        return None
    log = {ICEBERG: IcebergChanges, DELTA: DeltaChanges}[settings.format]
    table = settings.table or f"{settings.format}.{quoted(str(settings.path))}"
    return log(spark, table, settings.keys, settings.skipped)
