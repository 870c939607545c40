"""SparkTableSource: tables of Iceberg and Delta by their changes, and of any format of Spark by a column or as a whole.

A plan is what has changed between two states of the table, in parts by the hash of the key: a key's changes are in one
part, in their order. A part is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    NativeSourceConnector,
    Offset,
    PlanContext,
    ResumePoint,
    SourcePlan,
    Split,
)
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.catalogs.catalogs import use_catalog
from airflow_kconnect.connectors.table.catalogs.keys import check_connections, with_catalog
from airflow_kconnect.connectors.table.config import CATALOG, below
from airflow_kconnect.connectors.table.packages import JARS, needs_of
from airflow_kconnect.connectors.table.source.config import (
    BULK,
    CHANGES,
    INCREMENTING,
    NOTHING,
    PREFIXES,
    forbidden_reading,
    settings_of,
    source_keys,
    source_problems,
)
from airflow_kconnect.connectors.table.source.offsets import offset_name, offset_problems, partition_of, reached
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.worker_config.keys import TABLE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_kconnect.connectors.table.source.rows import SourceTable
    from airflow_kconnect.worker_config.keys import WorkerConfig

_MOST_ROWS, _FEWEST_ROWS = 1_000_000, 1_000
"""Of a part, as far as that is known: its transaction has an end, and is worth its cost."""


class SparkTableSourceConnector(NativeSourceConnector):
    """Its splits are parts of a range of states, of values of a column, or of the whole table."""

    summary = "Reads what has changed in a table of Iceberg or Delta Lake, or what is new in any that Spark reads."
    key_prefixes: ClassVar[tuple[str, ...]] = PREFIXES
    first_keys: ClassVar[tuple[str, ...]] = (
        "table.format",
        "table.catalog",
        "table.name",
        "mode",
        "pk.fields",
        "topic",
    )

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = settings_of(self.config_values, self.props)
        self._table: SourceTable | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return source_keys()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return source_problems(props)

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden_reading(props, worker.get(TABLE_FORMATS))

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport | None:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        needs = needs_of(props["table.format"].strip().lower(), spark_version, jars=props.get(JARS))
        return with_catalog(needs, below(CATALOG, props), props)

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        connector = cls(props)
        cls.refuse_wrong_offsets(props, offsets, lambda *given: offset_problems(connector._settings, *given))
        return True

    def check(self) -> None:
        check_connections(self.props)

    def plan(self, context: PlanContext) -> SourcePlan:
        table = self._open(context.spark())
        before = context.offset(partition_of(self._settings))
        if self._settings.mode == CHANGES:
            return self._plan_changes(table, reached(self._settings, before), context)
        if self._settings.mode == INCREMENTING:
            return self._plan_growth(table, reached(self._settings, before), context)
        at = table.present()
        count = table.rows(None).count() if at is None or table.log is None else table.log.size(None, at)
        return SourcePlan(self._parts(table, (NOTHING, NOTHING, at), count, context) if count != 0 else ())

    def _plan_changes(self, table: SourceTable, before: int | None, context: PlanContext) -> SourcePlan:
        assert table.log is not None
        facts = context.facts_of(partition_of(self._settings)) or {}
        if before is not None and facts.get("id", identity := table.log.identity()) != identity:
            raise DataError(
                f"table {self._settings.name} was created again since it was read up to {table.log.state} {before}:"
                " reset the connector's offsets (`kconnect offsets reset`) to read the new one as a whole"
            )
        end = table.log.newest()
        if end is None or end == before:
            return SourcePlan(())
        table.log.check(before, end)
        count = table.log.size(before, end)
        return SourcePlan(self._parts(table, (NOTHING if before is None else before, end, None), count, context))

    def _plan_growth(self, table: SourceTable, before: int | None, context: PlanContext) -> SourcePlan:
        from pyspark.sql import functions as F

        at = table.present()
        rows = table.rows(at)
        table.check_growing(rows.schema)
        column = table.column
        if before is not None:
            rows = rows.where((column > before) | column.isNull())
        found = rows.agg(F.max(column), F.min(column), F.count(column), F.count_if(column.isNull())).head()
        assert found is not None
        notes = {"warnings": [self._null_warning(int(found[3]))]} if found[3] else {}
        if found[0] is None:
            return SourcePlan((), notes)
        start = int(found[1]) - 1 if before is None else before
        return SourcePlan(self._parts(table, (start, int(found[0]), at), int(found[2]), context), notes)

    def _null_warning(self, count: int) -> RunWarning:
        return RunWarning(
            Kind.LOST,
            f"table {self._settings.name}: {count:,} rows have null in `{self._settings.column}`"
            " (`incrementing.column.name`) and are never read: give them a value, or read the table by its changes or"
            " as a whole",
        )

    def _parts(
        self, table: SourceTable, extent: tuple[int, int, int | None], rows: int | None, context: PlanContext
    ) -> tuple[Split, ...]:
        parts = context.parallelism()
        if rows is not None:
            parts = max(min(parts, -(-rows // _FEWEST_ROWS)), -(-rows // _MOST_ROWS), 1)
        parts = min(parts, context.splits_max or parts, context.plan_splits or parts)
        start, end, at = extent
        detail: dict[str, Any] = {"parts": parts, "columns": table.columns_mark(table.between(*extent))}
        if at is not None:
            detail["at"] = at
        if self._settings.mode == CHANGES and table.log is not None and (identity := table.log.identity()):
            detail["id"] = identity
        partition = partition_of(self._settings)
        return tuple(Split(partition, start, end, {"part": part, **detail}) for part in range(parts))

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """Files of no state in particular may be others by now: a copy of all of them begins again. The rest is looked
        at when it is read.
        """
        if self._settings.mode == BULK:
            return {k for k, split in splits if "at" not in split.detail}
        return set()

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, ResumePoint]]) -> RecordFrame:
        from airflow_kconnect.connectors.table.source.frames import record_frame

        table = self._open(spark)
        first = splits[0][1]
        changes = table.between(int(first.start), int(first.end), first.detail.get("at"))
        if first.detail["columns"] != table.columns_mark(changes):
            raise table.other_columns()
        wanted = [int(split.detail["part"]) for _, split, _ in splits]
        rows = table.parts(changes, int(first.detail["parts"]), wanted)
        return record_frame(rows, self._settings.name, self._settings.keys, self._settings.topic)

    def resumable(self, split: Split) -> bool:
        return False

    def offset(self, split: Split, resume_point: ResumePoint) -> Offset | None:
        name = offset_name(self._settings)
        return None if name is None else {name: int(split.end)}

    def facts(self, split: Split) -> dict[str, Any] | None:
        return {"id": split.detail["id"]} if "id" in split.detail else None

    def explained(self, failure: str) -> ConnectError | None:
        return None if self._table is None or self._table.log is None else self._table.log.explained(failure)

    def finished(self) -> None:
        if self._table is not None and self._table.log is not None:
            self._table.log.finished()

    def _open(self, spark: SparkSession) -> SourceTable:
        """:raises ConfigError: there is no such table."""
        from airflow_kconnect.connectors.table.source.rows import SourceTable

        if self._table is None:
            if self._settings.catalog is not None:
                use_catalog(spark, self._settings.catalog)
            if self._settings.table is not None and not spark.catalog.tableExists(self._settings.table):
                raise ConfigError({"table.name": [f"there is no table {self._settings.table}"]}, self.props.get("name"))
            self._table = SourceTable(spark, self._settings, self.props.get("name", ""))
        return self._table
