"""Columns of encoded records to a producer: the loops that every source record passes through."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from airflow_kconnect.kafka.producers import CommittingProducer


def produce_plain(producer: CommittingProducer, topic: str, values: list[bytes | None], keys: list[Any] | None) -> None:
    """The hot loop: positional calls, nothing else (measured: headers and keywords cost more than the call)."""
    produce = producer.produce
    if keys is None:
        for value in values:
            try:
                produce(topic, value)
            except BufferError:
                producer.produce_patiently(topic, value)
        return
    for value, key in zip(values, keys, strict=True):
        try:
            produce(topic, value, key)
        except BufferError:
            producer.produce_patiently(topic, value, key)


def produce_full(
    producer: CommittingProducer,
    topics: str | list[str],
    values: list[bytes | None],
    keys: list[Any] | None,
    rows: pa.RecordBatch,
) -> None:
    """Records with their own topics, partitions, timestamps or headers."""
    count, names = rows.num_rows, rows.schema.names
    partitions = rows.column("partition").to_pylist() if "partition" in names else [None] * count
    timestamps = rows.column("timestamp").to_pylist() if "timestamp" in names else [None] * count
    headers = rows.column("headers").to_pylist() if "headers" in names else [None] * count
    topic_list = [topics] * count if isinstance(topics, str) else topics
    for topic, value, key, partition, timestamp, header in zip(
        topic_list, values, keys or [None] * count, partitions, timestamps, headers, strict=True
    ):
        pairs = [(h["key"], h["value"]) for h in header] if header else None
        where = -1 if partition is None else partition
        when = 0 if timestamp is None or timestamp == -1 else timestamp
        try:
            producer.produce(topic, value, key, where, None, None, when, pairs)
        except BufferError:
            producer.produce_patiently(topic, value, key, where, None, None, when, pairs)
