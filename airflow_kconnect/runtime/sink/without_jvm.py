"""Sink splits whose records do not need Spark's JVM: one Python process reads, renders and writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart, SinkSplit
from airflow_kconnect.connect.error_cells import NEEDS_SPARK
from airflow_kconnect.runtime.process.split_worker import Move
from airflow_kconnect.runtime.sink.reader import ReaderSettings, many_messages, read_split
from airflow_kconnect.runtime.sink.writer import SinkWriterSettings, sink_writer, uncounted

_Batches = Iterator[pa.RecordBatch]


def plain_move(reader: ReaderSettings, renderer: BatchRenderer, writer: SinkWriterSettings, *, keeps_key: bool) -> Move:
    """Moves splits, and returns their reports, as in `sink_writer`; partition n moves split n.

    :param keeps_key: whether the renderer gets keys that are read; else it is only made sure that they can be read.
    """
    write = sink_writer(writer)

    def move(batches: _Batches) -> _Batches:
        for batch in batches:
            for split in batch.column(0).to_pylist():
                with many_messages():
                    yield from write(rendered_rows(reader, renderer, reader.splits[split], keeps_key=keeps_key))

    return move


def rendered_rows(
    reader: ReaderSettings, renderer: BatchRenderer, split: SinkSplit, *, keeps_key: bool = True
) -> _Batches:
    """The rows of a split, up to the first batch that Spark has to read."""
    for batch in read_split(reader, split):
        errors = batch.column("error")
        good = pc.index(errors.is_valid(), True).as_py() if errors.null_count < batch.num_rows else batch.num_rows
        if good:
            rows = _rendered(reader, renderer, batch.slice(0, good), keeps_key)
            if rows is not None and rows.num_rows != good:
                raise uncounted(str(split.topic_partition), good, rows.num_rows)
            if rows is None:
                first = batch.column("kafka_offset")[:1]
                yield pa.record_batch({"kafka_offset": first, "error": pa.array([NEEDS_SPARK])})
                return
            yield rows
        if good < batch.num_rows:
            yield batch.slice(good)
            return


def _rendered(
    reader: ReaderSettings, renderer: BatchRenderer, batch: pa.RecordBatch, keeps_key: bool
) -> pa.RecordBatch | None:
    key, value = _parsed(batch, "key"), _parsed(batch, "value", nulls=renderer.takes_nulls)
    if value is None:
        return None
    if "key" not in reader.columns:
        return renderer.render(batch.column("kafka_offset"), None, value)
    if keeps_key:
        return None if key is None else renderer.render(batch.column("kafka_offset"), key, value)
    return renderer.render(batch.column("kafka_offset"), None, value) if _all_read(batch, "key") else None


def _parsed(batch: pa.RecordBatch, part: Literal["key", "value"], *, nulls: bool = False) -> ParsedPart | None:
    """The shape shared by all messages of the batch, and their payloads.

    :param nulls: messages may be null, which fits each shape.
    """
    prefix = f"{part}_parsed_"
    columns = {name: batch.column(name) for name in batch.schema.names if name.startswith(prefix)}
    for name, column in columns.items():
        if not column.null_count:
            return int(name.removeprefix(prefix)), column
    if not nulls or not columns or not _all_read(batch, part):
        return None
    used = [name for name, column in columns.items() if column.null_count < len(column)] or [*columns][:1]
    return (int(used[0].removeprefix(prefix)), columns[used[0]]) if len(used) == 1 else None


def _all_read(batch: pa.RecordBatch, part: Literal["key", "value"]) -> bool:
    """Whether each message is null or parsed: the reader has kept only the others."""
    return bool(batch.column(part).null_count == batch.num_rows)
