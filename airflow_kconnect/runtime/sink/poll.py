"""A `SinkTask` as the writer of a split: Arrow rows become `SinkRecord` objects."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.sink import SinkSplit, SplitWriter
from airflow_kconnect.connect.connector.task import SinkTask, SinkTaskContext
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.error_cells import error_from_column
from airflow_kconnect.connect.frame import Union
from airflow_kconnect.connect.record import Headers, SinkRecord
from airflow_kconnect.runtime.conversion.header_stage import RAW, Cell, HeaderStage
from airflow_kconnect.runtime.dead_letters import REPLAYED_OFFSET
from airflow_kconnect.runtime.sink.delivery import Delivery, Terms, as_data_error
from airflow_kconnect.runtime.sink.task_reporter import TaskErrorReporter

_RECURSION_LIMIT = 4_000
_TERMS = Terms()


@dataclass
class TaskWriter(SplitWriter):
    """Calls a `SinkTask` according to its contract.

    :param key: the key's union, whose schemaless columns hold JSON text.
    :param value: the value's union, likewise.
    :param headers: reads the values of headers; otherwise they stay bytes.
    """

    task_class: Callable[[], SinkTask]
    props: Mapping[str, str]
    key: Union
    value: Union
    headers: HeaderStage = RAW
    terms: Terms = _TERMS
    _task: SinkTask | None = field(default=None, init=False)
    _split: SinkSplit | None = field(default=None, init=False)
    _reporter: TaskErrorReporter | None = field(default=None, init=False)
    _delivery: Delivery | None = field(default=None, init=False)
    durable_before_close = False  # offsets are committed with the round

    def report_to(self, reporter: TaskErrorReporter) -> None:
        """Give the task a reporter for records that it cannot write. Called before `open`."""
        self._reporter = reporter

    def open(self, split: SinkSplit) -> None:
        partitions = (split.topic_partition,)
        # Spark reads JSON with a thousand levels, for each of which Python's parser counts a call.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
        self._split, self._task = split, self.task_class()
        context = SinkTaskContext(self.props, partitions, self._reporter)
        with as_data_error(type(self._task)):
            self._task.initialize(context)
            self._task.start(self.props)
            self._task.open(partitions)
        self._delivery = Delivery(self._task, context, split, self.terms, self._records)

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with an ``error`` added in rows with bad headers and no error yet."""
        errors = [self.headers.decoded(cells)[1] for cells in batch.column("headers").to_pylist()]
        if not any(errors):
            return batch
        index = batch.schema.get_field_index("error")
        return batch.set_column(index, "error", pc.coalesce(batch.column(index), pa.array(errors, pa.string())))

    def write(self, batch: pa.RecordBatch) -> None:
        """:raises Ended: the task does not take it, nor what follows; `close` says where it is."""
        assert self._delivery
        self._delivery.deliver(batch)

    def _records(self, batch: pa.RecordBatch) -> list[SinkRecord]:
        assert self._split
        return _records(batch, self._split, self.key, self.value, self.headers)

    def close(self, end: int) -> dict[str, Any]:
        assert self._delivery and self._task
        delivery = self._delivery
        safe = delivery.finish(end)
        with as_data_error(type(self._task)):
            self._end()
        return {
            "safe": safe,
            "reported": self._reporter.reported if self._reporter else 0,
            "skipped": delivery.skipped,
            "paused": delivery.ended and not delivery.again,
            "again": delivery.again,
        }

    def abort(self) -> None:
        if self._task is not None:
            with suppress(Exception):  # the error that led here is the one to report
                self._end()

    def _end(self) -> None:
        assert self._task and self._split
        task, self._task = self._task, None
        try:
            task.close((self._split.topic_partition,))
        finally:
            task.stop()


def _records(
    batch: pa.RecordBatch, split: SinkSplit, key: Union, value: Union, header_stage: HeaderStage
) -> list[SinkRecord]:
    keys, values = _part(batch, key), _part(batch, value)
    count, names = batch.num_rows, batch.schema.names
    offsets = batch.column(REPLAYED_OFFSET if REPLAYED_OFFSET in names else "kafka_offset").to_pylist()
    # With the topic of a record before it became a dead letter goes its partition.
    partitions = batch.column("partition").to_pylist() if REPLAYED_OFFSET in names else [split.partition] * count
    topics = batch.column("topic").to_pylist() if "topic" in names else [split.topic] * count
    original = None if REPLAYED_OFFSET in names else split.topic
    timestamps = batch.column("timestamp").to_pylist()
    headers = batch.column("headers").to_pylist()
    return [
        SinkRecord(
            topic=topic,
            partition=partition,
            kafka_offset=offset,
            key=k,
            key_schema=key_schema,
            value=v,
            value_schema=value_schema,
            timestamp=timestamp,
            headers=_headers(header_stage, cells, f"{topic}-{partition}@{offset}"),
            original_topic=None if topic == original else original,
        )
        for topic, partition, offset, (key_schema, k), (value_schema, v), timestamp, cells in zip(
            topics, partitions, offsets, keys, values, timestamps, headers, strict=True
        )
    ]


def _headers(stage: HeaderStage, cells: list[Cell] | None, record_position: str) -> Headers:
    """:raises ConnectError: they are bad; see `TaskWriter.checked`."""
    headers, error = stage.decoded(cells)
    if error is not None:
        raise error_from_column(error, record_position)
    return tuple((name, value) for name, _, value in headers)


def _part(batch: pa.RecordBatch, union: Union) -> list[tuple[ConnectSchema | None, Any]]:
    if union.absent:
        return [(None, None)] * batch.num_rows
    columns = [batch.column(name).to_pylist() for name in union.columns]
    tags = [0] * batch.num_rows if union.tag is None else batch.column(union.tag).to_pylist()
    return [_data(union, columns, tag, row) for row, tag in enumerate(tags)]


def _data(union: Union, columns: list[list[Any]], tag: int | None, row: int) -> tuple[ConnectSchema | None, Any]:
    if tag is None:
        return None, None
    schema, data = union.shapes[tag].schema, columns[tag][row]
    if schema is None:
        return None, None if data is None else json.loads(data)
    return schema, data
