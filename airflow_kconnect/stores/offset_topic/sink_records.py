"""What the offset topic holds for a sink."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.records import TopicRead, sink_of


class SinkRecords:
    """What the offset topic holds for one consumer group: the newest record for each topic.

    A key can be in two partitions of an offset topic to which partitions were added; then the newer record wins.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._records: dict[str, dict[int, LogRecord]] = {}

    def add(self, record: LogRecord) -> None:
        """Process one record of the offset topic."""
        sink = sink_of(record.key or b"null")
        if sink is not None and sink[0] == self._group:
            self._records.setdefault(sink[1], {})[record.partition] = record

    def read(self) -> dict[str, TopicRead]:
        """Topic -> its record. :raises DataError: a record cannot be read."""
        return {topic: _decoded(record) for topic, record in self._newest().items() if record.value is not None}

    def written_ms(self) -> dict[str, int]:
        """Topic -> when its record was written, in epoch milliseconds."""
        return {topic: record.timestamp_ms for topic, record in self._newest().items()}

    def _newest(self) -> dict[str, LogRecord]:
        return {
            topic: max(records.values(), key=lambda record: (record.timestamp_ms, record.offset))
            for topic, records in self._records.items()
        }

    def offsets(self) -> dict[TopicPartition, int]:
        """All offsets, including those of topics that no longer exist."""
        return {
            TopicPartition(topic, p): offset
            for topic, record in self.read().items()
            for p, offset in enumerate(record.offsets)
            if offset is not None
        }

    def keys_and_partitions(self) -> Iterator[tuple[bytes, int]]:
        """Key and Kafka partition of each record that is not deleted."""
        for records in self._records.values():
            yield from ((r.key, r.partition) for r in records.values() if r.key is not None and r.value is not None)


def _decoded(record: LogRecord) -> TopicRead:
    try:
        return TopicRead.decode(record.value or b"")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            f"the record of what a sink has read, at {record}, cannot be read: {error}. Reset the offsets of the"
            " connector, or write a null value with the same key, then run again"
        ) from error
