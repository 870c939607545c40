"""A common interface for the two kinds of sink connector: rows for a `SplitWriter`, or records for Python tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.sink import (
    BatchRenderer,
    NativeSinkConnector,
    PollSinkConnector,
    SinkConnector,
    SinkSplit,
    SplitWriter,
)
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.conversion.encoding import converter_of
from airflow_kconnect.runtime.conversion.header_stage import HeaderStage
from airflow_kconnect.runtime.dead_letters import only_of_failed
from airflow_kconnect.runtime.retries import Retries
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.shortcuts import is_overridden
from airflow_kconnect.runtime.sink.delivery import Terms
from airflow_kconnect.runtime.sink.poll import TaskWriter

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ALL_PARTS = frozenset({"key", "timestamp", "headers"})


class SinkKind(ABC):
    """What `SinkRun` needs from a connector."""

    exactly_once = False
    """Whether writing the same offsets again leaves the same result."""
    ordered = True
    """Whether one writer must write the splits of a partition in order."""
    needs = ALL_PARTS
    """Which parts of a record, besides its value, are used."""
    unwraps_change_events = False
    """Whether Debezium's envelopes are to arrive as plain rows."""
    keeps_deleted_rows = False
    """Whether that of a deletion is the row before it."""
    offsets_stored_in: str | None = None
    """Where the target stores offsets with its data; None: it does not."""
    deadline_epoch_s: float | None = None
    """When the run's time is over, for writers that wait; None: it has no limit."""
    commits = False
    """Whether the driver makes visible what the writers of a round have written."""

    def stored_offsets(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target stores with its data. Changes nothing."""
        return {}

    def take_over(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """As `stored_offsets`; from now on older runs can write nothing."""
        return {}

    def store_start(self, start: Mapping[TopicPartition, int]) -> None:
        """The target stores where the run starts, if it stores offsets. :raises FencedError: a newer run owns them."""

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Remove what killed runs left behind from these offsets on."""

    def renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        """What renders records of these shapes without Catalyst, or None."""
        return None

    def wants_first_shapes(self) -> Sequence[str]:
        """Topics of which `first_shape` should be called before `rows`."""
        return ()

    def first_shape(self, topic: str, shape: Shape) -> None:
        """The shape of a topic's first good value."""

    @abstractmethod
    def rows(self, frame: RecordFrame) -> DataFrame:
        """The rows for the writers."""

    @abstractmethod
    def writers(self, frame: RecordFrame | None, count: int) -> tuple[SplitWriter, ...]:
        """The writers of the splits. Called after `rows` or `renderer`, which know what the writers get.

        :param frame: the records; None if `renderer` renders them.
        :param count: of splits.
        """

    def before_visible(self) -> None:
        """Called once per round, if the kind `commits`, before the run makes sure that no newer one has started."""

    def make_visible(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> Mapping[str, Any]:
        """Called once per round, if the kind `commits`; returns details for the report."""
        return {}

    def warnings(self) -> list[str]:
        """What the connector has noticed so far."""
        return []


def kind_of(settings: RunSettings, connector: SinkConnector) -> SinkKind:
    """The kind of a connector."""
    if isinstance(connector, NativeSinkConnector):
        return NativeKind(connector)
    if isinstance(connector, PlannedSinkConnector):
        return PlannedKind(connector)
    assert isinstance(connector, PollSinkConnector)
    return PollKind(settings, connector)


class NativeKind(SinkKind):
    """Catalyst, or a renderer without it, renders the rows; the driver commits what was written."""

    commits = True

    def __init__(self, connector: NativeSinkConnector) -> None:
        self._connector = connector
        self.exactly_once, self.ordered, self.needs = connector.exactly_once, connector.ordered, connector.needs
        self.unwraps_change_events = connector.unwraps_change_events
        self.offsets_stored_in = connector.offsets_stored_in

    def stored_offsets(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        return self._connector.stored_offsets(partitions)

    def take_over(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        return self._connector.take_over(partitions)

    def store_start(self, start: Mapping[TopicPartition, int]) -> None:
        self._connector.store_start(start)

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        self._connector.prepare(start)

    def renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        if is_overridden(type(self._connector), {"render"}, {"batch_renderer"}):
            return None
        return self._connector.batch_renderer(keys, values)

    def wants_first_shapes(self) -> Sequence[str]:
        return self._connector.wants_first_shapes()

    def first_shape(self, topic: str, shape: Shape) -> None:
        self._connector.first_shape(topic, shape)

    def rows(self, frame: RecordFrame) -> DataFrame:
        return only_of_failed(self._connector.render(frame))

    def writers(self, frame: RecordFrame | None, count: int) -> tuple[SplitWriter, ...]:
        return tuple(self._connector.writer() for _ in range(count))

    def before_visible(self) -> None:
        self._connector.before_commit()

    def make_visible(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> Mapping[str, Any]:
        return self._connector.commit(results)

    def warnings(self) -> list[str]:
        return self._connector.run_warnings()


class PlannedKind(SinkKind):
    """Spark's own writers write the rows: here they are only counted and judged."""

    ordered = False

    def __init__(self, connector: PlannedSinkConnector) -> None:
        self._connector = connector
        self.exactly_once, self.needs = connector.exactly_once, connector.needs
        self.unwraps_change_events = connector.unwraps_change_events
        self.keeps_deleted_rows = connector.keeps_deleted_rows

    def rows(self, frame: RecordFrame) -> DataFrame:
        rows = self._connector.judged(frame)
        return only_of_failed(rows.select("kafka_offset", "error", *(n for n in rows.columns if n == "original")))

    def writers(self, frame: RecordFrame | None, count: int) -> tuple[SplitWriter, ...]:
        return (_Nowhere(),) * count


class _Nowhere(SplitWriter):
    durable_before_close = False

    def open(self, split: SinkSplit) -> None:
        """There is nothing to open."""

    def write(self, batch: pa.RecordBatch) -> None:
        """What is good is written elsewhere."""

    def close(self, end: int) -> dict[str, Any]:
        return {}


class PollKind(SinkKind):
    """Python tasks, which are responsible for what they have been given when they are flushed."""

    def __init__(self, settings: RunSettings, connector: PollSinkConnector) -> None:
        self._settings, self._connector = settings, connector

    def rows(self, frame: RecordFrame) -> DataFrame:
        """Schemaless data are passed as JSON text."""
        from pyspark.sql import functions as F

        rows = frame.df
        for union in (frame.key, frame.value):
            for shape, column in zip(union.shapes, union.columns, strict=True):
                if shape.schemaless:
                    rows = rows.withColumn(column, F.to_json(F.col(column)))
        place = [frame.topic] if frame.topic else []
        if frame.replayed_offset and frame.partition:
            place += [frame.partition, frame.replayed_offset]
        return rows.select(*_columns(frame.key), *_columns(frame.value), "timestamp", "headers", *place, *frame.carried)

    def writers(self, frame: RecordFrame | None, count: int) -> tuple[SplitWriter, ...]:
        assert frame is not None
        settings, connector = self._settings, self._connector
        headers = HeaderStage.of(converter_of(settings, "header"))
        flush_ms = int(settings.worker.get("offset.flush.interval.ms"))
        terms = Terms(flush_ms, Retries.of(settings.config.common), self.deadline_epoch_s)
        task = TaskWriter(connector.task_class(), {}, frame.key, frame.value, headers, terms)
        configs = connector.task_configs(settings.tasks_max)
        return tuple(replace(task, props=configs[n % len(configs)]) for n in range(count))


def _columns(union: Union) -> tuple[str, ...]:
    return (*union.columns, *((union.tag,) if union.tag else ()))
