"""The connector contract: which methods are called, by whom and when."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.datasets import Dataset
from airflow_kconnect.connect.errors import ConfigError, ConnectError, RefusedError
from airflow_kconnect.connect.java.json import partition_identity
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connect.task import SinkTask, SourceTask

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connect.validation.worker_keys import WorkerConfig

Offset = dict[str, Any]
Progress = int | str


class ExactlyOnceSupport(Enum):
    """A source connector's answer for a configuration (KIP-618)."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"


class Connector(ABC):
    """Created once per run, in the job's driver. Class methods are also called where there is no Spark.

    :param props: the connector's whole configuration, validated, variables resolved.
    """

    kind: ClassVar[str]
    key_prefixes: ClassVar[tuple[str, ...]] = ()
    """Prefixes of keys that it reads although `config` does not define them, such as driver properties."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self.props = dict(props)
        self.config_values = self.config().parse(self.props)

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef:
        """The connector's own keys. Called at validation."""

    @classmethod
    def version(cls) -> str:
        """Version of the connector, shown in reports."""
        return metadata.version("airflow-kconnect")

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        """Errors beyond single keys: key -> messages. Called at validation; must not connect to anything."""
        return {}

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        """What the worker forbids connectors to do: key -> messages. Called at validation, including in the job."""
        return {}

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        """What is allowed but may not do what the user expects. Called at validation; must not connect to anything."""
        return []

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """Why an interval of time cannot be replayed with this configuration; None if it can.

        Called before anything is started.
        """
        return None

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """What it reads (a source) or writes (a sink) outside Kafka, for lineage. Called in Airflow, so it must not
        connect to anything; what is not known is left out.

        :param props: valid, but variables such as `${file:...}` are not resolved.
        :param report: of a finished run: its offsets and notes may contain more; None before a run.
        """
        return []

    def check(self) -> None:
        """Check the external system (a file, a database) from where the job runs, before anything is planned.

        :raises ConfigError: the configuration names something that cannot work.
        """


@dataclass(frozen=True)
class Split:
    """An immutable, bounded piece of a source partition; written to the plan record, so all its values are JSON.

    :param source_partition: flat map.
    :param start: what the connector needs to begin (exclusive of what was read before).
    :param end: where the split ends.
    :param detail: anything else the reader needs to recognise its source, e.g. a fingerprint.
    """

    source_partition: dict[str, Any]
    start: Progress
    end: Progress
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourcePlan:
    """What one run reads.

    :param splits: in source order; those of one source partition are contiguous and adjacent.
    :param notes: details for the report, e.g. ``{"held_back_bytes": 17}``.
    """

    splits: tuple[Split, ...]
    notes: dict[str, Any] = field(default_factory=dict)


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
        """The facts stored beside that offset, or None."""
        return self.facts.get(partition_identity(source_partition))


class SourceConnector(Connector):
    """Base class of both kinds of source connector; do not subclass it directly."""

    kind = "source"

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """A source must be able to tell which of its data belong to an interval; most cannot."""
        return "does not know which of its data belong to an interval of time: it can only resume from its offsets"

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Whether the configuration can be exactly once; None means that the connector does not say."""
        return None

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
        given = [(partition, offset) for partition, offset in offsets if offset is not None]
        problems = dict.fromkeys(text for partition, offset in given for text in problems_of(partition, offset))
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

    @abstractmethod
    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, Progress]]) -> RecordFrame:
        """Read (index, split, resume point) triples into a frame with one Spark partition per split.

        The frame carries ``progress`` (long or string: the resume point after this row; strictly increasing within a
        split; null where reading cannot resume after the row, so that nothing is committed there) and may carry
        ``error`` (a text, or `error_cell`). A split's rows come in the same order each time.
        """

    def resumable(self, split: Split) -> bool:
        """Whether rows of the split carry ``progress``, so that a long one can commit in parts. If not, the whole split
        is one Kafka transaction, which may take as long as the broker allows.
        """
        return True

    @abstractmethod
    def offset(self, split: Split, progress: Progress) -> Offset | None:
        """The source offset that means "everything up to `progress` is done"; None if nothing is to be stored."""

    def facts(self, split: Split) -> dict[str, Any] | None:
        """What to store beside an offset that a split led to, in order to detect a replaced source."""
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
    def task_class(self) -> type[SourceTask]:
        """The class of its tasks; it must be importable on the executors."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """At most `max_tasks` task configurations; each becomes one Spark partition."""

    def shapes(self) -> RecordShapes:
        """The shapes of the records. Default: schemaless."""
        return RecordShapes()


@dataclass(frozen=True)
class SinkSplit:
    """A bounded range of a topic-partition: offsets ``[start, end)``, the end for read_committed readers."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


class SinkConnector(Connector):
    """Base class of both kinds of sink connector; do not subclass it directly."""

    kind = "sink"

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """A replay writes again what was written before: a sink must know that this does no harm."""
        return (
            "does not say that records which are written again do no harm: after a replay they could be in its target"
            " twice. If they do none, let the connector's `replay_problem` return None"
        )

    def replay(self, replay: Replay) -> None:
        """Called after construction if the run replays an interval: choose another target, if writing twice would
        damage the live one.
        """

    @classmethod
    def start_problems(
        cls, props: Mapping[str, str], starts: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]
    ) -> list[str]:
        """Why a run must not start where a user wants it to. Called before offsets are altered or reset, and before a
        run in progress is ended; there may be no Spark.

        :param starts: where the next run would start.
        :param committed: what the group has committed so far.
        """
        return []

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Called before the group's offsets are altered or reset, while no run is in progress; there may be no Spark.

        A sink that stores offsets with its data alters them here.

        :param offsets: the new offsets; None removes one.
        :returns: False if the connector does not manage its own offsets, so the user may have more to alter.
        :raises ConfigError: keyed by ``offsets``, with all offsets from which no run could start.
        """
        return False


class PollSinkConnector(SinkConnector):
    """A sink in Python: `SinkTask.put` is called with the records of each split."""

    @abstractmethod
    def task_class(self) -> type[SinkTask]:
        """The class of its tasks; it must be importable on the executors."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """At most `max_tasks` task configurations; split n gets configuration n modulo their number."""


Refused = Callable[[int, RefusedError], None]
"""Called with the Kafka offset of a record that the target rejects, and the reason."""


class SplitWriter(ABC):
    """Writes one split of a Spark-native sink; created in the driver, pickled, used in a Spark partition."""

    def tolerate(self, refused: Refused) -> None:
        """Called before `open` if the run skips bad records (``errors.tolerance=all``).

        A writer that can tell which record its target rejects reports it within `write` and continues with the others.
        Without that, any record that the target rejects ends the run.
        """

    @abstractmethod
    def open(self, split: SinkSplit) -> None:
        """Called once, before the first batch of a split."""

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Called with consecutive rows of the split, as `NativeSinkConnector.render` returned them."""

    @abstractmethod
    def close(self, end: int) -> dict[str, Any]:
        """Called after the last row. `end` is the offset after the split (it may be lower than planned).

        Returns JSON data for `NativeSinkConnector.commit`. Nothing needs to be visible to readers yet.
        """

    def abort(self) -> None:
        """Called instead of `close` after an error: remove what was written."""


ParsedPart = tuple[int, "pa.StructArray"]
"""The index of a shape, and the keys or values of a batch, all of which have that shape and are not null."""


class BatchRenderer(ABC):
    """Renders rows for a `SplitWriter` in the process where the records were parsed; pickled into the tasks."""

    @abstractmethod
    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        """The rows that `NativeSinkConnector.render` would return, none with an error; None if `render` is needed.

        :param key: None: keys are not used.
        """


class NativeSinkConnector(SinkConnector):
    """A sink whose rows Catalyst renders and a `SplitWriter` writes in Arrow batches."""

    exactly_once: bool = False
    """Whether writing the same offsets again leaves the same result."""
    ordered: bool = True
    """Whether the splits of a partition must be committed in order by one writer; else they run in parallel."""

    needs: frozenset[str] = frozenset({"key", "timestamp", "headers"})
    """Which parts of a record, besides its value, `render` uses; reading each of them has a cost."""

    unwraps_change_events: bool = False
    """Whether Debezium's envelopes reach `render` as plain rows, and their deletes as tombstones."""

    def stored_offsets(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target stores with its data, for a sink that writes both in one transaction.

        Where the target is ahead of the consumer group, a run resumes from the target's offset. Must change nothing: a
        dry run calls it while another run is in progress.
        """
        return {}

    def take_over(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """As `stored_offsets`; from now on older runs can write nothing.

        Called in the driver before anything is planned, when older runs can no longer commit anything to Kafka.
        """
        return self.stored_offsets(partitions)

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Called in the driver before the first round, with the first uncommitted offset of each partition: remove what
        an interrupted run left behind from there on. No newer run had started just before.
        """

    @abstractmethod
    def render(self, frame: RecordFrame) -> DataFrame:
        """The rows for the writer: any columns, plus ``kafka_offset`` (long) and ``error`` (string) unchanged."""

    def batch_renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        """Called in place of `render` where records need no transformation and a converter parses them in batches.

        The rows it renders do not have to pass through Spark's JVM. A split ends at the first batch that needs
        `render`, and the rest of the run uses `render`.

        :param keys: shapes that keys may have; empty if keys are not used.
        """
        return None

    @abstractmethod
    def writer(self) -> SplitWriter:
        """The writer of one split."""

    def commit(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> dict[str, Any]:
        """Called in the driver, once per round, after all splits closed and before their offsets are committed.

        Make the results visible. Returns details for the report. No newer run of the connector had started just before.

        :raises FencedError: what the writers wrote is gone: a newer run has removed it.
        """
        return {}
