"""A table as the sink needs it: what it looks like, how a plan gets into it, and which plans it has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.upkeep import TableUpkeep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T

    from airflow_kconnect.connectors.table.evolution import Change
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
        """Create it; one that another run has just created is not an error."""

    @abstractmethod
    def change(self, changes: Sequence[Change]) -> None:
        """Add, widen and make optional. :raises ConfigError: the format cannot do one of them."""

    @abstractmethod
    def has(self, plan: SinkPlan) -> bool:
        """Whether it has the plan. :raises DataError: it can no longer tell."""

    @abstractmethod
    def last_plan(self, application: str) -> int | None:
        """Number of the last plan that it has of an application; None: it has none, or does not know any more."""

    def is_empty(self) -> bool:
        """Whether it has no rows, so that none has to be found by its key."""
        return self.spark.table(self.name).isEmpty()

    @abstractmethod
    def append(self, plan: SinkPlan, rows: DataFrame) -> None:
        """Write rows that have its columns. `staged` says whether readers can see them."""

    @abstractmethod
    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        """Update and insert by key, and delete; there is one row per key.

        :param rows: its columns, and the column `deleted`.
        :param deleted: name of a BOOLEAN column: the row with these keys is to go, if there is one. None: none is.
        """

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        """Make visible what is staged. Returns facts for the report: how many ``files``, ``bytes`` and ``snapshots`` it
        has added, and how many ``records`` are in these files; the newest ``snapshot`` (its id or version), the
        ``partitions`` that got rows. What the format does not say is left out.

        A plan that it has by now is not an error. What another writer has done in between is repeated on the new state.
        """
        return {}

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
