"""The records that Python tasks produce and receive, as ``SourceRecord`` and ``SinkRecord`` of Connect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema

Headers = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record that a `SourceTask` polled.

    :param source_partition: where it comes from, a flat map such as ``{"filename": "/data/in"}``.
    :param source_offset: the position after it, a flat map such as ``{"position": 42}``. Either may be None: then the
        record is not tracked.
    :param topic: the topic it goes to.
    :param value: str, int, float, bool, bytes, dict (STRUCT or MAP), list (ARRAY) or None.
    :param value_schema: its schema; None with a value means schemaless.
    :param kafka_partition: the partition it goes to; None: chosen by Kafka's murmur2 hash of the key.
    :param timestamp: ms since the epoch; None means now.
    :param headers: (name, value) pairs; bytes and None are passed as they are, the header converter writes other values
        as schemaless data.
    """

    source_partition: Mapping[str, Any] | None
    source_offset: Mapping[str, Any] | None
    topic: str
    value: Any
    value_schema: ConnectSchema | None = None
    key: Any = None
    key_schema: ConnectSchema | None = None
    kafka_partition: int | None = None
    timestamp: int | None = None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class SinkRecord:
    """A record passed to a `SinkTask`.

    :param kafka_offset: its offset in topic-partition.
    :param value: Python data as in `SourceRecord`; schemaless data are plain dicts and lists.
    :param headers: (name, value) pairs, read by the header converter; dates are `datetime` objects, decimals `Decimal`.
    :param original_topic: where it was read, if a transformation has given it another topic (KIP-793).
    """

    topic: str
    partition: int
    kafka_offset: int
    key: Any
    value: Any
    key_schema: ConnectSchema | None = None
    value_schema: ConnectSchema | None = None
    timestamp: int | None = None
    headers: Headers = ()
    original_topic: str | None = None

    @property
    def read_topic(self) -> str:
        """The topic with whose name partition and offset say which record it is: no other one has the three."""
        return self.topic if self.original_topic is None else self.original_topic


@dataclass(frozen=True, order=True, slots=True)
class TopicPartition:
    """A partition of a topic; prints as ``topic-partition``, as Kafka does."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
