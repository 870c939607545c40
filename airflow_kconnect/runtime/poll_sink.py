"""A `SinkTask` as the writer of a split: Arrow rows become `SinkRecord` objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.connector import SinkSplit, SplitWriter
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.connect.frame import Union
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.connect.task import SinkTask, SinkTaskContext


@dataclass
class TaskWriter(SplitWriter):
    """Calls a `SinkTask` as its contract says.

    :param key: the key's union, whose schemaless columns hold JSON text.
    :param value: the value's union, likewise.
    """

    task_class: type[SinkTask]
    props: Mapping[str, str]
    key: Union
    value: Union
    _task: SinkTask | None = field(default=None, init=False)
    _split: SinkSplit | None = field(default=None, init=False)

    def open(self, split: SinkSplit) -> None:
        partitions = (split.topic_partition,)
        self._split, self._task = split, self.task_class()
        with _as_data_error(self.task_class):
            self._task.initialize(SinkTaskContext(self.props, partitions))
            self._task.start(self.props)
            self._task.open(partitions)

    def write(self, batch: pa.RecordBatch) -> None:
        assert self._task and self._split
        records = _records(batch, self._split, self.key, self.value)
        with _as_data_error(self.task_class):
            self._task.put(records)

    def close(self, end: int) -> dict[str, Any]:
        assert self._task and self._split
        partition = self._split.topic_partition
        with _as_data_error(self.task_class):
            safe = self._task.pre_commit({partition: end})
            self._end()
        return {"safe": safe.get(partition, self._split.start)}

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


class _as_data_error:
    """The task is the user's code: any error of it is the run's answer, by name, not a traceback of ours."""

    def __init__(self, task_class: type[SinkTask]) -> None:
        self._name = task_class.__name__

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ConnectError) or not isinstance(error, Exception):
            return
        raise DataError(f"{self._name} failed: {type(error).__name__}: {error}") from error


def _records(batch: pa.RecordBatch, split: SinkSplit, key: Union, value: Union) -> list[SinkRecord]:
    keys, values = _part(batch, key), _part(batch, value)
    offsets = batch.column("kafka_offset").to_pylist()
    timestamps = batch.column("timestamp").to_pylist()
    headers = batch.column("headers").to_pylist()
    return [
        SinkRecord(
            topic=split.topic,
            partition=split.partition,
            kafka_offset=offset,
            key=k,
            key_schema=key_schema,
            value=v,
            value_schema=value_schema,
            timestamp=timestamp,
            headers=tuple((header["key"], header["value"]) for header in found or ()),
        )
        for offset, (key_schema, k), (value_schema, v), timestamp, found in zip(
            offsets, keys, values, timestamps, headers, strict=True
        )
    ]


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
