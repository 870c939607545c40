"""A table as the sink needs it: what it looks like, how a plan gets into it, and which plans it has."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.connector.upkeep import TableUpkeep
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.record import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T

    from airflow_kconnect.connectors.table.columns.evolution import Change
    from airflow_kconnect.connectors.table.settings import TableSettings


@dataclass(frozen=True)
class TableDefinition:
    """A table that is to be created.

    :param columns: with their comments.
    :param keys: names of the columns that identify a row.
    """

    columns: T.StructType
    keys: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    location: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


class Table(ABC):
    """One table, in the driver. Created once per run and table; knows what it has staged.

    For each plan (docs/decisions/0059-a-table-takes-a-plan-once.md), in this order:

    1. `columns`, then `create` or `change` where records need it, and `columns` again.
    2. `has`. A plan that an interrupted run has written is only compared, by `check`.
    3. `append` or `merge`. Up to three times, if records turn out to have another shape: each begins from nothing. With
       `staged` no one sees the rows yet; without it the plan has been announced before.
    4. `publish`, for each table, also one that has staged nothing. Or `discard`, if the run fails at a bad record.

    Before the first plan of a run `last_plan`, `lost_starts` and `last_plans` are compared with what Kafka knows; after
    the last plan of a replay comes `forget`. A method that finds that a newer run has taken over raises `FencedError`.

    :param name: the identifier in Spark's SQL, quoted where needed: ``catalog.namespace.table``.
    """

    exactly_once: ClassVar[bool] = False
    """Whether it refuses a plan that it has."""
    staged: ClassVar[bool] = False
    """Whether no one sees what was written before `publish`."""

    def __init__(self, spark: SparkSession, name: str, settings: TableSettings) -> None:
        self.spark, self.name, self.settings = spark, name, settings

    @abstractmethod
    def columns(self) -> T.StructType | None:
        """Its present columns; None: there is no such table.

        :raises ConfigError: something of this name is there, and is not a table of the format.
        """

    @abstractmethod
    def create(self, definition: TableDefinition) -> None:
        """Create it; one that another run has just created is not an error. `columns` may be None before a plan."""

    @abstractmethod
    def change(self, changes: Sequence[Change]) -> None:
        """Add, widen and make optional. :raises ConfigError: the format cannot do one of them."""

    @abstractmethod
    def has(self, plan: SinkPlan) -> bool:
        """Whether it has the plan, or a later one of the application. :raises DataError: it can no longer tell."""

    @abstractmethod
    def last_plan(self, application: str) -> int | None:
        """Number of the last plan that it has of an application; None if it knows of none."""

    def lost_starts(self, application: str, number: int) -> dict[TopicPartition, int] | None:
        """Where the plans begin, up to this number, that it has taken and does not have any more.

        None: it does not know all of them.
        """
        return None

    def last_plans(self, connector: str) -> dict[str, int]:
        """Application -> number of the last plan that it has, of all applications of connectors with this name."""
        return {}

    def is_empty(self) -> bool:
        """Whether it has no rows, so that none has to be found by its key."""
        return self.spark.table(self.name).isEmpty()

    @abstractmethod
    def append(self, plan: SinkPlan, rows: DataFrame, count: RowCount | None = None) -> None:
        """Write rows that have its columns. `staged` says whether readers can see them.

        :param count: of them, as the writer counts them.
        :raises DataError: it has taken another number: by what the format says, or by what is in its files.
        """

    @abstractmethod
    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        """Update and insert by key, and delete; there is one row per key.

        :param rows: its columns, and the column `deleted`.
        :param deleted: name of a BOOLEAN column: the row with these keys is to go, if there is one. None: none is.
        :raises DataError: it says that it has written fewer rows than it was given.
        """

    def check(self, plan: SinkPlan, count: RowCount) -> None:
        """Compare what it has of a plan, which another run has written, with the rows that it would be given.

        :raises DataError: it has another number of them.
        """

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        """Make visible what is staged. Returns facts for the report: how many ``files``, ``bytes`` and ``snapshots`` it
        has added, and how many ``records`` are in these files; the newest ``snapshot`` (its id or version), the
        ``partitions`` that got rows. What the format does not say is left out.

        A plan that it has by now is not an error. What another writer has done in between is repeated on the new state.
        """
        return {}

    def forget(self, application: str) -> None:
        """Remove what it knows of the plans of an application, which has ended. What cannot be removed may stay."""

    def place(self) -> dict[str, Any]:
        """For lineage: ``location``, and ``columns``, each with its name and type; what is not known is left out."""
        schema = self.columns()
        return {} if schema is None else {"columns": [[f.name, f.dataType.simpleString()] for f in schema.fields]}

    def maintain(self, order: TableUpkeep) -> dict[str, Any]:
        """See `PlannedSinkConnector.maintain`."""
        raise ConfigError(
            {"table.format": ["tables of this format are not looked after: only those of Iceberg and Delta"]}
        )

    def discard(self, plan: SinkPlan) -> None:
        """Forget what is staged."""

    def miscounted(self, plan: SinkPlan, written: int, given: int, remedy: str) -> DataError:
        """The error about a plan of which it has not taken what it was given."""
        return DataError(
            f"connector {self.settings.connector}: Spark was to write {given:,} rows of plan {plan.identity} into table"
            f" {self.name}, and has written {written:,}. {remedy}"
        )


def earliest(starts: Iterable[Mapping[TopicPartition, int]]) -> dict[TopicPartition, int]:
    """The first offset of each topic-partition."""
    found: dict[TopicPartition, int] = {}
    for each in starts:
        for topic_partition, start in each.items():
            found[topic_partition] = min(start, found.get(topic_partition, start))
    return found


def applications(connector: str) -> re.Pattern[str]:
    """What applications of a connector are called, without those of replays: see `stores.sink_plans`."""
    return re.compile(re.escape(connector) + "-[0-9a-f]{12}")


def counted(rows: DataFrame, deleted: str | None = None) -> tuple[DataFrame, RowCount]:
    """Rows that are counted when they are written.

    :param deleted: name of a BOOLEAN column: these rows do not count.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    observation = Observation()
    number = F.count(F.lit(1)) if deleted is None else F.count_if(~F.coalesce(F.col(f"`{deleted}`"), F.lit(False)))

    def exact() -> int:
        row = rows.agg(number.alias("rows")).first()
        assert row is not None
        return int(row["rows"])

    def observed() -> int | None:
        try:
            return int(observation.get["rows"])
        except Py4JJavaError:  # there is no such part in what Spark has run in the end
            return None

    return rows.observe(observation, number.alias("rows")), RowCount(observed, exact)
