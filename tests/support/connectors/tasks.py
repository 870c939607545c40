"""The first task of a polling source, started where offsets say and polled to its end, without Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, PollSourceConnector
from airflow_kconnect.connect.connector.task import SourceTaskContext
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.java_text.json import partition_identity


def started(
    connector: PollSourceConnector,
    offsets: Mapping[str, Offset] | None = None,
    facts: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """:param offsets: by the identity of their source partitions. :param facts: what earlier tasks have learned."""
    connector.learn(facts)
    config = connector.task_configs(1)[0]
    task = connector.task_class()()
    task.initialize(SourceTaskContext(config, offsets or {}))
    task.start(config)
    return task


def pages(task: Any) -> Iterator[list[SourceRecord]]:
    """What each of its polls returns; it is stopped at the end."""
    try:
        while (records := task.poll()) is not None:
            yield list(records)
    finally:
        task.stop()


def polls(task: Any) -> Iterator[SourceRecord]:
    """All of its records."""
    for page in pages(task):
        yield from page


def offsets_of(records: Sequence[SourceRecord]) -> dict[str, Offset]:
    """Those that a commit after these records stores."""
    return {
        partition_identity(record.source_partition or {}): dict(record.source_offset)
        for record in records
        if record.source_offset is not None
    }
