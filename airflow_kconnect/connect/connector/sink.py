"""The contract of sink connectors: which methods are called, by whom and when."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import RefusedError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame


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
            "does not declare that writing records again does no harm: after a replay they could be in its target"
            " twice. If it does none, let the connector's `replay_problem` return None"
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

        :param offsets: the new offsets; None removes one, in a reset.
        :returns: False if the connector does not manage its own offsets, so the user may have more to alter.
        :raises ConfigError: keyed by ``offsets``, with all offsets from which no run could start.
        """
        return False


class PollSinkConnector(SinkConnector):
    """A sink in Python: `SinkTask.put` is called with the records of each split."""

    @abstractmethod
    def task_class(self) -> Callable[[], SinkTask]:
        """The class of its tasks; it must be importable on the executors."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """At most `max_tasks` task configurations; split n gets configuration n modulo their number."""


Refused = Callable[[int, RefusedError], None]
"""Called with the Kafka offset of a record that the target rejects, and the reason."""


class SplitWriter(ABC):
    """Writes one split of a Spark-native sink; created in the driver, pickled, used in a Spark partition."""

    durable_before_close: bool = True
    """Whether `write` may make records durable, with their offsets."""

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Called with each batch before its bad rows are sorted out; may set the ``error`` of others."""
        return batch

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


ParsedPart = tuple[int, "pa.Array"]
"""The index of a shape, and the keys or values of a batch, all of which have that shape and are not null unless the
renderer `takes_nulls`.

Dates and timestamps have Arrow's types for them, or are Connect's numbers: days and milliseconds since the epoch.
Schemaless data are texts: JSON as `to_json` of a VARIANT writes it.
"""


class BatchRenderer(ABC):
    """Renders rows for a `SplitWriter` in the process where the records were parsed; pickled into the tasks."""

    takes_nulls: ClassVar[bool] = False
    """Whether values may be null: tombstones, and null data of a shape."""

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
    """Which parts of a record, besides its value, `render` uses; reading each of them has a cost. Keys and headers that
    their converters cannot read make a bad record in any case.

    ``topic`` is one too: the frame then carries the column ``read_from``, the topic before any transformation.
    """

    offsets_stored_in: str | None = None
    """Where the target stores offsets with its data, such as the name of a table; None: it does not.

    If the target lacks what earlier runs have stored there, a run writes it again.
    """

    unwraps_change_events: bool = False
    """Whether Debezium's envelopes reach `render` as plain rows, and their deletes as tombstones."""

    def stored_offsets(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target stores with its data, for a sink that writes both in one transaction.

        A run resumes from the target's offset where it is ahead of the consumer group, or has lost what the group has.
        Must change nothing: a dry run calls it while another run is in progress.
        """
        return {}

    def take_over(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """As `stored_offsets`; from now on older runs can write nothing.

        Called in the driver before anything is planned, when older runs can no longer commit anything to Kafka.
        """
        return self.stored_offsets(partitions)

    def store_start(self, start: Mapping[TopicPartition, int]) -> None:
        """Called in the driver with the offset from which each partition is read, before Kafka gets them: a target that
        stores offsets stores these where it has lower ones, or none.

        :raises FencedError: a newer run has taken over.
        """

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Called in the driver before the first round, with the first uncommitted offset of each partition: remove what
        an interrupted run left behind from there on. Just before the call no newer run had started.
        """

    def wants_first_shapes(self) -> Sequence[str]:
        """Called before each `render`: topics of which `first_shape` should be called first."""
        return ()

    def first_shape(self, topic: str, shape: Shape) -> None:
        """Called with the shape of the value of a topic's first good record, as `render` will get it, if there is any
        near the beginning of its partitions.
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

    def before_commit(self) -> None:
        """Called in the driver, once per round, after all splits closed: look at what this round may have to replace.

        If a newer run of the connector has started by its end, `commit` is not called: nothing that is found here is
        of a newer run. Must change nothing.
        """

    def commit(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> dict[str, Any]:
        """Called in the driver, once per round, after `before_commit` and before their offsets are committed.

        Make the results visible. Returns details for the report. No newer run of the connector had started just before.

        :raises FencedError: what the writers wrote is gone: a newer run has removed it.
        """
        return {}

    def run_warnings(self) -> list[str]:
        """Called in the driver after each `commit`: all that the run's report should warn of so far."""
        return []
