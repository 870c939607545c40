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
from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.frame import ABSENT, RecordFrame, Union, single
from airflow_kconnect.connect.validation.worker_keys import TABLE_FORMATS
from airflow_kconnect.connectors.table.catalog_keys import check_connections, with_catalog
from airflow_kconnect.connectors.table.catalogs import use_catalog
from airflow_kconnect.connectors.table.config import CATALOG, below
from airflow_kconnect.connectors.table.packages import JARS, needs_of
from airflow_kconnect.connectors.table.source.config import (
    BULK,
    CHANGES,
    INCREMENTING,
    PREFIXES,
    forbidden_reading,
    settings_of,
    source_keys,
    source_problems,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import types as T

    from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
    from airflow_kconnect.connectors.table.source.change_logs import ChangeLog

_NOTHING = -1
"""The state before a table has any: states themselves may be any other number."""
_PART_ROWS = 1_000_000


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
        self._spark: SparkSession | None = None

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
        cls.refuse_wrong_offsets(props, offsets, _offset_problems)
        return True

    def check(self) -> None:
        check_connections(self.props)

    @property
    def _partition(self) -> dict[str, Any]:
        return {"table": self._settings.name}

    def plan(self, context: PlanContext) -> SourcePlan:
        spark = self._open(context.spark())
        before = context.offset(self._partition)
        if self._settings.mode == CHANGES:
            return self._plan_changes(spark, before, context)
        if self._settings.mode == INCREMENTING:
            return self._plan_growth(spark, before, context)
        return SourcePlan(self._parts(_NOTHING, _NOTHING, self._rows(spark).count(), context))

    def _plan_changes(self, spark: SparkSession, before: Offset | None, context: PlanContext) -> SourcePlan:
        log = self._log(spark)
        start = _NOTHING if before is None else int(before[log.state])
        end = log.newest()
        if end is None or end == start:
            return SourcePlan(())
        log.check(None if start == _NOTHING else start, end)
        rows = log.whole(end) if start == _NOTHING else log.changes(start, end)
        count = rows.count()
        return SourcePlan(self._parts(start, end, count, context), {"changed_rows": count})

    def _plan_growth(self, spark: SparkSession, before: Offset | None, context: PlanContext) -> SourcePlan:
        from pyspark.sql import functions as F

        assert self._settings.column is not None
        rows, column = self._rows(spark), F.col(f"`{self._settings.column}`")
        if before is not None:
            rows = rows.where(column > before["incrementing"])
        found = rows.agg(F.max(column).cast("long"), F.min(column).cast("long"), F.count(column)).head()
        assert found is not None
        if found[0] is None:
            return SourcePlan(())
        start = int(found[1]) - 1 if before is None else int(before["incrementing"])
        return SourcePlan(self._parts(start, int(found[0]), int(found[2]), context))

    def _parts(self, start: int, end: int, rows: int, context: PlanContext) -> tuple[Split, ...]:
        if not rows and self._settings.mode != CHANGES:
            return ()
        parts = max(1, min(-(-rows // _PART_ROWS) if rows > _PART_ROWS else context.parallelism(), max(rows, 1)))
        if context.splits_max is not None:
            parts = min(parts, context.splits_max)
        return tuple(Split(self._partition, start, end, {"part": part, "parts": parts}) for part in range(parts))

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """A range of states is looked at when it is read."""
        return set()

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, ResumePoint]]) -> RecordFrame:
        self._open(spark)
        first = splits[0][1]
        rows = self._range(spark, int(first.start), int(first.end))
        return self._frame(_in_parts(rows, self._hashed(rows), [split for _, split, _ in splits]))

    def resumable(self, split: Split) -> bool:
        return False

    def offset(self, split: Split, resume_point: ResumePoint) -> Offset | None:
        if self._settings.mode == BULK:
            return None
        if self._settings.mode == INCREMENTING:
            return {"incrementing": int(split.end)}
        return {_state_of(self._settings.format): int(split.end)}

    def _range(self, spark: SparkSession, start: int, end: int) -> DataFrame:
        from pyspark.sql import functions as F

        from airflow_kconnect.connectors.table.source.change_logs import KIND, ORDER, UPSERTED

        if self._settings.mode == CHANGES:
            log, since = self._log(spark), None if start == _NOTHING else start
            log.check(since, end)
            if since is not None:
                return log.changes(since, end)
            rows = log.whole(end)
        else:
            rows = self._rows(spark)
        if self._settings.mode == INCREMENTING:
            column = F.col(f"`{self._settings.column}`")
            rows = rows.where((column > start) & (column <= end))
        return rows.withColumns({KIND: F.lit(UPSERTED), ORDER: F.lit(0).cast("long")})

    def _hashed(self, rows: DataFrame) -> Column:
        from pyspark.sql import functions as F

        from airflow_kconnect.connectors.table.source.change_logs import KIND, ORDER

        names = self._settings.keys or tuple(name for name in rows.columns if name not in (KIND, ORDER))
        texts = [F.to_json(F.struct(F.col(f"`{name}`").alias("v"))) for name in names]
        return F.xxhash64(*texts)

    def _frame(self, rows: DataFrame) -> RecordFrame:
        """Values, keys, and tombstones for deleted rows."""
        from pyspark.sql import functions as F

        from airflow_kconnect.connect.error_cells import error_cell
        from airflow_kconnect.connectors.table.source.change_logs import DELETED, KIND, ORDER
        from airflow_kconnect.connectors.table.source.schemas import value_of

        fields = {f.name: f for f in rows.schema.fields if f.name not in (KIND, ORDER)}
        deleted = F.col(KIND) == DELETED

        def struct(names: Sequence[str]) -> Column:
            return F.struct(*(value_of(F.col(f"`{name}`"), fields[name].dataType).alias(name) for name in names))

        unkeyed = DataError(
            f"table {self._settings.name} has deleted or changed rows: set `pk.fields` to the columns that identify one"
        )
        keys = self._settings.keys
        error = F.lit(None).cast("string") if keys else F.when(deleted, F.lit(error_cell(unkeyed)))
        value = F.when(~deleted, struct(list(fields))) if keys else struct(list(fields))
        columns = [value.alias("value"), F.lit(None).cast("long").alias("progress"), error.alias("error")]
        columns += [struct(keys).alias("key")] if keys else []
        columns += [F.when(~deleted, F.lit(0)).alias("tag")] if keys else []
        shape = Shape(_struct(fields, list(fields)))
        return RecordFrame(
            rows.select(*columns),
            value=Union((shape,), ("value",), "tag") if keys else single(shape, "value"),
            key=single(Shape(_struct(fields, keys)), "key") if keys else ABSENT,
            constant_topic=self._settings.topic,
            carried=("progress", "error"),
        )

    def _rows(self, spark: SparkSession) -> DataFrame:
        settings = self._settings
        reader = spark.read.options(**settings.options)
        if settings.table is not None:
            return reader.table(settings.table)
        return reader.format(settings.format).load(settings.path)

    def _log(self, spark: SparkSession) -> ChangeLog:
        from airflow_kconnect.connectors.table.source.change_logs import change_log

        settings = self._settings
        table = settings.table or f"{settings.format}.`{settings.path}`"
        return change_log(settings.format, spark, table, settings.keys)

    def _open(self, spark: SparkSession) -> SparkSession:
        """:raises ConfigError: there is no such table."""
        if self._spark is None:
            if not hasattr(type(spark.range(0)), "repartitionById"):
                text = f"needs PySpark 4.1 or newer; this is {spark.version}"
                raise ConfigError({"connector.class": [text]}, self.props.get("name"))
            if self._settings.catalog is not None:
                use_catalog(spark, self._settings.catalog)
            if self._settings.table is not None and not spark.catalog.tableExists(self._settings.table):
                raise ConfigError({"table.name": [f"there is no table {self._settings.table}"]}, self.props.get("name"))
            self._spark = spark
        return spark


def _offset_problems(partition: Mapping[str, Any], offset: Offset) -> list[str]:
    known = ("snapshot", "version", "incrementing")
    if len(offset) == 1 and all(name in known and isinstance(value, int) for name, value in offset.items()):
        return []
    return [f"{dict(offset)} of {dict(partition)}: expected one whole number, named {', '.join(known)}"]


def _state_of(format_: str) -> str:
    from airflow_kconnect.connectors.table.source.change_logs import DeltaChanges, IcebergChanges

    return {"iceberg": IcebergChanges, "delta": DeltaChanges}[format_].state


def _struct(fields: Mapping[str, T.StructField], names: Sequence[str]) -> ConnectSchema:
    from airflow_kconnect.connectors.table.source.schemas import schema_of

    members = tuple(Field(n, schema_of(n, fields[n].dataType, optional=fields[n].nullable)) for n in names)
    return ConnectSchema(SchemaType.STRUCT, fields=members)


def _in_parts(rows: DataFrame, hashed: Column, splits: Sequence[Split]) -> DataFrame:
    """One Spark partition per split, with its part of the rows, each key's in their order."""
    from pyspark.sql import functions as F

    from airflow_kconnect.connectors.table.source.change_logs import ORDER

    parts = int(splits[0].detail["parts"])
    wanted = [int(split.detail["part"]) for split in splits]
    part = F.pmod(hashed, F.lit(parts)).cast("int")
    numbers = F.create_map(*(F.lit(n) for pair in zip(wanted, range(len(wanted)), strict=True) for n in pair))
    rows = rows.withColumn("kconnect_part", numbers[part]).where(F.col("kconnect_part").isNotNull())
    placed = rows.repartitionById(len(wanted), F.col("kconnect_part"))
    return placed.sortWithinPartitions(ORDER).drop("kconnect_part")
