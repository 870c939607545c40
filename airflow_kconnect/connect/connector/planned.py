"""The contract of sinks whose rows Spark itself writes, a plan at a time: which methods are called, and when."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.connector.sink import SinkConnector, SinkSplit
from airflow_kconnect.connect.connector.upkeep import TableUpkeep
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.record import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs


@dataclass(frozen=True)
class SinkPlan:
    """What a target takes as one: it is numbered, so that the target can refuse what it has.

    A plan that was announced has the same ranges in each run that writes it.

    :param application: who has numbered it. No other connector or cluster has this text, nor has the same connector
        after its offset topic was lost.
    :param number: higher than those of all earlier plans of the application.
    :param ranges: of each topic-partition one.
    """

    application: str
    number: int
    ranges: tuple[SinkSplit, ...]

    @property
    def identity(self) -> str:
        """The plan's name in a target."""
        return f"{self.application}:{self.number}"

    @property
    def topics(self) -> tuple[str, ...]:
        """Of its ranges, each once, sorted."""
        return tuple(sorted({range_.topic for range_ in self.ranges}))

    @property
    def start(self) -> dict[TopicPartition, int]:
        """The first offset of each topic-partition."""
        return {range_.topic_partition: range_.start for range_ in self.ranges}

    @property
    def end(self) -> dict[TopicPartition, int]:
        """The offset after the last one of each topic-partition."""
        return {range_.topic_partition: range_.end for range_ in self.ranges}


@dataclass(frozen=True)
class KnownPlans:
    """What Kafka knows about the plans of a sink when a run begins.

    :param application: who numbers them. :param number: of the last one.
    :param taken: the number of the last plan that each table took.
    :param begins: no table has taken one, and no user has said where the connector is to resume.
    :param reached: where it would resume.
    """

    application: str
    number: int
    taken: Mapping[str, int]
    begins: bool
    reached: Mapping[TopicPartition, int]


class UnknownPlansError(DataError):
    """Tables have plans that Kafka does not know: what it says about the next ones cannot be relied on either."""


class PlanRecords(ABC):
    """The records of a plan, for `PlannedSinkConnector.write`. Nothing is read before Spark writes what is made of
    them; then they are read each time.
    """

    plan: SinkPlan

    @abstractmethod
    def frame(self, topics: Collection[str] | None = None, expected: ExpectedObjects | None = None) -> RecordFrame:
        """The records, decoded and transformed, good and bad ones. To be called only for what is then written: the
        counts of all frames are waited for.

        :param topics: only those read from these topics; None: all.
        :param expected: values without a schema may be there as these structs, which takes much less time. If that is
            not what they are, the plan is written again without it.
        """

    @abstractmethod
    def look(self, topics: Collection[str] | None = None, first: int | None = None) -> RecordFrame:
        """As `frame`, for a job that writes nothing, and so counts nothing.

        :param first: at most this many offsets of each topic-partition.
        """

    @abstractmethod
    def originals(self, topics: Collection[str] | None = None) -> RecordFrame:
        """As `look`, with the column ``original``: a struct of ``key``, ``value``, ``timestamp``, ``headers``,
        ``topic`` and ``partition``, as they are in Kafka.
        """

    @abstractmethod
    def good(
        self, rows: DataFrame, own: Column | None = None, counted: Column | None = None
    ) -> tuple[DataFrame, RowCount]:
        """The rows without an ``error``, and without this column; and how many they are. The others are counted as they
        pass, and dealt with afterwards: what was written is discarded if one of them must not be skipped.

        Each row of `frame` must be in the rows, which keep ``kafka_offset`` and ``error`` until here, and there may be
        neither more nor fewer of them. Where records are in several frames, each must be counted in one of them.

        :param own: which rows are written; None: all.
        :param counted: which rows are counted; None: those that are written.
        """

    @abstractmethod
    def attempt(self) -> AbstractContextManager[None]:
        """A block that makes frames and writes them. If it raises, they count as not made, and can be made again."""

    @property
    @abstractmethod
    def bad(self) -> int:
        """How many bad records there were in the frames that were written."""

    @abstractmethod
    def announce(self, tables: Collection[str]) -> None:
        """Called within `write` by a connector that cannot stage, before it makes anything of the plan visible: from
        now on each run that finds the plan unfinished completes it in these tables.

        :raises FencedError: a newer run has begun.
        """


class PlannedSinkConnector(SinkConnector):
    """A sink whose rows Spark's writers write.

    For each plan the engine calls `write`, announces the tables, and calls `publish`; or `discard` if there was a
    record that must not be skipped. A run that finds a plan announced but unfinished calls `is_published` first; if
    nothing is `staged`, `write` is called in any case, and compares what tables have with what it counts.
    """

    exactly_once: bool = False
    """Whether its target refuses a plan that it has."""
    staged: bool = True
    """Whether no one sees what `write` has written before `publish`. If not, a bad record that must not be skipped
    fails the job that writes it.
    """
    needs: frozenset[str] = frozenset({"key", "timestamp", "headers"})
    """As in `NativeSinkConnector`; with ``topic`` frames carry ``read_from``, with ``partition`` they have topics and
    partitions.
    """
    unwraps_change_events: bool = False
    """As in `NativeSinkConnector`."""
    keeps_deleted_rows: bool = False
    """Whether of a change event that deletes the row before it is left, with ``__deleted`` true; else a tombstone."""
    plan_records: int = 5_000_000
    """At most this many offsets are one plan."""

    def open(self, spark: SparkSession) -> None:
        """Called in the driver, once, before all others, when there is something to write.

        :raises ConfigError: the catalog or format cannot be used with this session.
        :raises RetriableError: the catalog is unavailable.
        """

    @abstractmethod
    def is_published(self, plan: SinkPlan, table: str) -> bool:
        """Whether a table has a plan that was announced for it. May be called before any `write`.

        :raises DataError: the table can no longer tell.
        """

    def check_takeover(self, admin: KafkaAdmin, clients: ClientConfigs) -> None:
        """Called before the first plan of a run if no plan of this connector has been published yet: something else may
        have written to its tables under its name.

        :raises DataError: records would be missing.
        """

    def check_kept(self, known: KnownPlans) -> None:
        """Called before the first plan of a run.

        :raises DataError: a table has lost plans, because it was restored or created again.
        :raises UnknownPlansError: a table has more of them.
        """

    @abstractmethod
    def judged(self, frame: RecordFrame) -> DataFrame:
        """All rows of a frame with ``kafka_offset`` and ``error``, which also says what the target cannot take. Called
        to find the records that `PlanRecords.good` has counted as bad.
        """

    @abstractmethod
    def write(self, records: PlanRecords) -> Collection[str]:
        """Write the records of a plan; returns the names of its tables. Those that have it already (`is_published`) are
        left out.

        Errors of Spark and py4j may be raised as they are: they fail the run, which is retried.

        :raises DataError: a table has not taken as many rows as it was given.
        :raises UnknownPlansError: a table that was not written before has plans that Kafka does not know.
        :raises ConnectError: any other failure.
        """

    @abstractmethod
    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        """Make visible what `write` has written; returns details for the report. A table that has the plan by now, from
        another run, is not an error.

        :raises FencedError: a newer run has changed the table in between.
        """

    def discard(self, plan: SinkPlan) -> None:
        """Called in place of `publish`, also if `write` has failed: what was staged will not be used."""

    def forget(self, application: str, table: str) -> None:
        """Remove what a table has only to know which plans of a replay it has. Called when this has ended."""

    def maintain(self, table: str, order: TableUpkeep) -> dict[str, Any]:
        """Look after a table: called after `open`, by a job that does nothing else.

        :param table: one that plans were announced for, or one that the user names.
        :returns: facts for the report: counts, or two of them: what it was and what it is.
        :raises ConfigError: there is no such table, or its format has no such steps.
        """
        raise ConfigError({"connector.class": [f"{type(self).__name__} does not look after its tables"]})

    def run_warnings(self) -> list[str]:
        """Called after each `publish`: all that the run's report should warn of so far."""
        return []
