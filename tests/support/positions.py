"""Puts connectors where a test needs them: records with any timestamps, committed offsets of sinks and sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Producer

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.stores.offset_topic.records import offset_key, offset_value


def produce_at(bootstrap: str, topic: str, times_ms: Iterable[int], partition: int = 0) -> None:
    """Write one record for each timestamp (ms)."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    for time_ms in times_ms:
        producer.produce(topic, b"x", partition=partition, timestamp=time_ms)
    assert producer.flush(30) == 0


def commit(bootstrap: str, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
    """Set the committed offsets of a consumer group; a newly started broker creates its group topic first."""
    wanted = {TopicPartition(*place): offset for place, offset in offsets.items()}
    GroupAdmin({"bootstrap.servers": bootstrap}).alter_group_offsets(group, wanted)


def commit_source(
    bootstrap: str, topic: str, connector: str, partition: Mapping[str, Any], offset: Mapping[str, Any] | None
) -> None:
    """Write a source offset as Connect does; None deletes it."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    producer.produce(topic, None if offset is None else offset_value(offset), offset_key(connector, partition))
    assert producer.flush(30) == 0
