"""Replays of an interval into tables: what the interval has written before is replaced, and what is newer stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.base import Table
from airflow_kconnect.connectors.table.formats.registry import CHANGEABLE
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.table.settings import DEAD_LETTERS, UPSERT, TableSettings
from airflow_kconnect.runs.warnings import Kind, RunWarning

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from airflow_kconnect.connect.connector.planned import SinkPlan

DELETED = "kconnect_replaced"
_COORDINATES = ("topic", "partition", "offset")
_THEIRS = "kconnect_theirs_"


def replay_problem(settings: TableSettings) -> str | None:
    """Why an interval cannot be replayed: see `Connector.replay_problem`."""
    if settings.format not in CHANGEABLE:
        return f"would add the rows of the interval again: in tables of {settings.format} no row is replaced"
    if settings.mode == UPSERT or coordinates(settings.metadata) is not None:
        return None
    names = ", ".join(_COORDINATES)
    return (
        "would add the rows of the interval again: its tables do not say which records their rows are from. With"
        f" `table.metadata.columns={','.join(_COORDINATES)}` set from the beginning a replay replaces them; or set"
        f" `insert.mode` to upsert ({names} are the key with `pk.mode=kafka`)"
    )


def replay_warning(settings: TableSettings) -> RunWarning | None:
    """What a replay may do that no one wants."""
    known = coordinates(settings.metadata)
    if settings.mode != UPSERT or known is not None:
        return None
    text = (
        "an interval is replayed into tables that do not say which records their rows are from: an older value replaces"
        " a newer one with the same key. Replay up to the present, or set `table.metadata.columns` to topic, partition"
        " and offset before rows are written"
    )
    return RunWarning(Kind.TARGET, text)


def coordinates(metadata: Mapping[str, str]) -> tuple[str, ...] | None:
    """The columns with topic, partition and offset of a row's record; None: not all of them are there."""
    names = [metadata.get(part) for part in _COORDINATES]
    return None if None in names else tuple(str(name) for name in names)


class Replayed(Table):
    """What a table does in a replay: see `replayed`."""

    def append(self, plan: SinkPlan, rows: DataFrame, count: RowCount | None = None) -> None:
        """Put rows in place of those that have records of the same ranges, in one commit. Rows of records that make
        none any more are removed.

        :raises ConfigError: the table has no columns that say which records its rows are from.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        names = coordinates(self.settings.metadata) or ()
        if missing := [name for name in names if name not in rows.columns]:
            if self.name.endswith((DEAD_LETTERS, f"{DEAD_LETTERS}`")):
                return super().append(plan, rows, count)  # type: ignore[safe-super]
            text = f"table {self.name} has no column {missing[0]}: an interval would be there twice after its replay"
            raise ConfigError({"table.metadata.columns": [text]}, self.settings.connector)
        before = self.spark.table(self.name).where(_of(plan, names)).select([_named(name) for name in names])
        both = rows.withColumn(DELETED, F.lit(False)).unionByName(
            before.withColumn(DELETED, F.lit(True)), allowMissingColumns=True
        )
        number, one = f"{DELETED}_number", [_named(name) for name in names]
        ranked = both.withColumn(number, F.row_number().over(Window.partitionBy(*one).orderBy(DELETED)))
        super().merge(plan, ranked.where(F.col(number) == 1).drop(number), names, DELETED)  # type: ignore[safe-super]

    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        super().merge(plan, without_older(self, rows, keys), keys, deleted)  # type: ignore[safe-super]

    def check(self, plan: SinkPlan, count: RowCount) -> None:
        """Which of the rows were older than what it had is not known any more."""


def replayed(table_class: type[Table]) -> type[Table]:
    """The class of tables for the run of a replay."""
    return type(f"Replayed{table_class.__name__}", (Replayed, table_class), {})


def without_older(table: Table, rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The rows without those of which the table has newer ones, as far as it says so: a later record of the same
    topic-partition with the same key.
    """

    names = coordinates(table.settings.metadata)
    if names is None or set(names) <= set(keys) or not set(names) <= set(rows.columns):
        return rows
    wanted = list(dict.fromkeys([*keys, *names]))
    theirs = table.spark.table(table.name).select([_named(name).alias(_THEIRS + name) for name in wanted])
    topic, partition, offset = names
    same = [_named(name).eqNullSafe(_named(_THEIRS + name)) for name in (*keys, topic, partition)]
    newer = _named(_THEIRS + offset) > _named(offset)
    return rows.join(theirs, reduce(lambda one, other: one & other, [*same, newer]), "left_anti")


def _of(plan: SinkPlan, names: Sequence[str]) -> Column:
    """Whether a row of a table is of a record of the plan."""
    topic, partition, offset = map(_named, names)
    ranges = [
        (topic == each.topic) & (partition == each.partition) & (offset >= each.start) & (offset < each.end)
        for each in plan.ranges
    ]
    return reduce(lambda one, other: one | other, ranges)


def _named(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quoted(name))
