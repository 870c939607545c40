"""The contract of source connectors: which methods are called, by whom and when."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.java_text.json import partition_identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_kconnect.connect.frame import BatchFrame, RecordFrame

Offset = dict[str, Any]
ResumePoint = int | str
"""Where reading a split resumes: after the row that has this value as its ``progress``."""


class ExactlyOnceSupport(Enum):
    """A source connector's answer for a configuration (KIP-618)."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Split:
    """An immutable, bounded piece of a source partition; written to the plan record, so all its values are JSON.

    :param source_partition: flat map.
    :param start: what the connector needs to begin (exclusive of what was read before).
    :param end: where the split ends.
    :param detail: anything else the reader needs to recognise its source, e.g. a fingerprint.
    """

    source_partition: dict[str, Any]
    start: ResumePoint
    end: ResumePoint
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourcePlan:
    """What one run reads.

    :param splits: in source order; those of one source partition are contiguous and adjacent.
    :param notes: details for the report, e.g. ``{"held_back_bytes": 17}``.
    :param full: whether it holds what fits into a plan. If it notes ``more``, the connector is then called again within
        the run, as after a plan with as many splits as there may be.
    """

    splits: tuple[Split, ...]
    notes: dict[str, Any] = field(default_factory=dict)
    full: bool = False


@dataclass(frozen=True)
class Tidied:
    """What a connector has done with what was read; see `NativeSourceConnector.tidy`.

    :param notes: details for the report, of the whole run so far. :param warnings: those of the report.
    :param forgotten: source partitions that are gone for good: their offsets and facts are removed.
    :param facts: what is to be kept of their facts, and under which source partition.
    """

    notes: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    forgotten: tuple[dict[str, Any], ...] = ()
    facts: tuple[dict[str, Any], dict[str, Any]] | None = None


@dataclass(frozen=True)
class PlanContext:
    """What a connector can use while planning.

    :param offsets: source partition (`partition_identity`) -> committed offset; read after fencing.
    :param facts: what `NativeSourceConnector.facts` returned when that offset was committed.
    :param max_records: at most this many records in this run; None means no limit.
    :param splits_max: at most this many splits per source partition; None lets the connector choose.
    :param plan_splits: at most this many splits in a plan; None means no limit. A connector that stops there notes
        ``more``, and is called again within the run once those are done.
    :param parallelism: how many splits Spark can run at once; reads Spark's configuration.
    :param spark: starts the Spark session on first use: a run with nothing to do should not call it.
    :param replay: plan what belongs to this interval, regardless of the offsets; None: resume from the offsets.
    """

    offsets: Mapping[str, Offset]
    facts: Mapping[str, Mapping[str, Any]]
    max_records: int | None
    splits_max: int | None
    parallelism: Callable[[], int]
    spark: Callable[[], SparkSession]
    replay: Replay | None = None
    plan_splits: int | None = None

    def offset(self, source_partition: Mapping[str, Any]) -> Offset | None:
        """The committed offset of a source partition, or None."""
        return self.offsets.get(partition_identity(source_partition))

    def facts_of(self, source_partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The facts stored next to that offset, or None."""
        return self.facts.get(partition_identity(source_partition))


class SourceConnector(Connector):
    """Base class of both kinds of source connector; do not subclass it directly."""

    kind = "source"

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """A source must be able to tell which of its data belong to an interval; most cannot."""
        return "cannot tell which of its data belong to an interval of time: it can only resume from its offsets"

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Whether the configuration can be exactly once; None means that the connector does not say."""
        return None

    def nothing_new(self, context: PlanContext) -> SourcePlan | None:
        """Called in place of a run, on a new connector without Spark: a plan without splits, if there is certainly
        nothing to read from the committed offsets on. Its notes are those of the run's report.

        Return None if there is anything to read, or if only a run can tell: nothing is fenced, and another run may be
        at work. It must be quick and must change nothing, since a job may ask a thousand connectors before any of them
        runs. What it raises, `check` or `plan` has to raise, too: the connector is run.
        """
        return None

    def run_warnings(self) -> Sequence[str]:
        """Called in the driver when all is committed: what the report of the run should warn of."""
        return ()

    @classmethod
    def can_define_transaction_boundaries(cls, props: Mapping[str, str]) -> bool:
        """Whether ``transaction.boundary=connector`` is possible."""
        return False

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        """Called before committed offsets are altered or reset, while no run is in progress; there may be no Spark.

        Check what is to be committed, and alter any state that the connector itself stores elsewhere.

        :param offsets: (source partition, new offset) pairs; None removes the offset. Allow invalid offsets to be
            removed.
        :returns: False if the connector does not manage its own offsets, so the user may have more to alter.
        :raises ConfigError: keyed by ``offsets``, with all offsets from which no run could start.
        """
        return False

    @staticmethod
    def refuse_wrong_offsets(
        props: Mapping[str, str],
        offsets: Sequence[tuple[Mapping[str, Any], Offset | None]],
        problems_of: Callable[[Mapping[str, Any], Offset], list[str]],
    ) -> None:
        """For `alter_offsets`: check each offset that is not removed.

        :param problems_of: what is wrong with the offset of a source partition.
        :raises ConfigError: keyed by ``offsets``, with all problems.
        """
        altered = [(partition, offset) for partition, offset in offsets if offset is not None]
        problems = dict.fromkeys(text for partition, offset in altered for text in problems_of(partition, offset))
        if problems:
            raise ConfigError({"offsets": list(problems)}, props.get("name"))


class NativeSourceConnector(SourceConnector):
    """A source that Spark reads: the driver plans bounded splits, Spark reads them in parallel."""

    key_shape: Shape | None = None

    @abstractmethod
    def plan(self, context: PlanContext) -> SourcePlan:
        """Called after fencing, unless an unfinished plan is resumed; again if a plan did not cover everything."""

    @abstractmethod
    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """Called when an unfinished plan is resumed, with the (index, split) pairs that are not done.

        Returns the indices of splits to give up because their source was replaced: their source partitions get no
        offset from this run, so the next one plans them from scratch.

        :raises DataError: a source is no longer the one that was planned, and the user must decide.
        """

    def batches(self, splits: Sequence[tuple[int, Split, ResumePoint]]) -> BatchFrame | None:
        """How Python reads (index, split, resume point) triples, as Arrow batches; None: Spark has to, see `read`.

        Called in the driver, before `read` and in place of it. Where the run needs nothing else of Spark, processes of
        the job read, each several splits one after the other, and Spark is not started; else Spark's Python workers do.
        The columns are those of a frame that `read` returns. An error of airflow_kconnect belongs into a row's
        ``error``, by `error_cell`; any other exception that reading raises ends the run, and a retry resumes it.
        """
        return None

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, ResumePoint]]) -> RecordFrame:
        """Read (index, split, resume point) triples into a frame with one Spark partition per split. To be implemented
        unless `batches` always answers.

        The frame carries ``progress`` (long or string: the resume point after the row; strictly increasing within a
        split; null where reading cannot resume after the row, so that nothing is committed there) and may carry
        ``error`` (a text, or `error_cell`). A split's rows come in the same order each time.
        """
        raise NotImplementedError

    def resumable(self, split: Split) -> bool:
        """Whether rows of the split carry ``progress``, so that a long one can commit in parts. If not, the whole split
        is one Kafka transaction, which may take as long as the broker allows.
        """
        return True

    def size(self, split: Split) -> int | None:
        """How many bytes the split has; None if that is not known without reading it.

        Called in the driver before Spark starts: Java is told to start quickly for a run that has little to move.
        """
        return None

    @abstractmethod
    def offset(self, split: Split, resume_point: ResumePoint) -> Offset | None:
        """The source offset that means "everything up to `resume_point` is done"; None if nothing is to be
        stored.
        """

    def with_bad_records(self, offset: Offset, count: int) -> Offset:
        """An offset, if that many of the records up to it were dead letters or skipped."""
        return offset

    def tidy(self, offsets: Sequence[tuple[dict[str, Any], Offset]]) -> Tidied | None:
        """Called in the driver when the offsets of a plan are committed, and for a plan without splits: archive or
        remove what was read. A run may be killed before it, so `plan` has to find what is left to do.

        What cannot be done is a warning: the records are in Kafka, and the next run tries again.

        :param offsets: (source partition, offset) pairs that were committed.
        """
        return None

    def facts(self, split: Split) -> dict[str, Any] | None:
        """What to store next to an offset that a split led to, in order to detect a replaced source."""
        return None

    def explained(self, failure: str) -> ConnectError | None:
        """The permanent cause of a run that failed in Spark with an apparently retriable error; None: retry.

        Called in the driver. A value that Spark's reader cannot read will be the same next time.
        """
        return None

    def finished(self) -> None:
        """Called in the driver once per run after the last split was read, or when the run failed: release what `plan`
        or `read` opened.
        """


@dataclass(frozen=True)
class RecordShapes:
    """The shapes of a poll connector's records; a record without schema is always allowed."""

    keys: tuple[Shape, ...] = ()
    values: tuple[Shape, ...] = ()


class PollSourceConnector(SourceConnector):
    """A source in Python: each task is polled in a Spark partition until it has caught up or a limit is reached."""

    @abstractmethod
    def task_class(self) -> Callable[[], SourceTask]:
        """The class of its tasks; it must be importable on the executors. Anything that can be pickled and called is
        possible.
        """

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """At most `max_tasks` task configurations; each becomes one Spark partition."""

    def shapes(self) -> RecordShapes:
        """The shapes of the records. Default: schemaless."""
        return RecordShapes()

    def commits_at_offsets(self) -> bool:
        """Whether a transaction may end only after a record with an offset. Then a record with a source partition and
        without an offset belongs to those that follow: they become visible together, or not at all, and that may take
        as long as the brokers allow a transaction to take.
        """
        return False

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Called in the driver before `shapes`, with what is known of shapes that only the records tell.

        :param known: what `learn` returned in the last run or plan, if anything, then the facts of each task that has
            raised `NewShapes`.
        :returns: all of it in one: a flat map that JSON can hold. It is stored with the offsets.
        """
        return {}
