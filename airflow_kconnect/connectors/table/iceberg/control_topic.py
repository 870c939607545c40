"""The control topic of Iceberg's Java sink: whether all that its tasks have read is in its tables.

Its tasks write data files and commit, in one transaction, what they have read and events that name the files. The
coordinator commits the files to the tables later, then how far it has read the control topic. Only a coordinator of the
same class would find files that it has not committed when the sink ends: their records would be lost otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.sink_topics import sink_group

_DATA_WRITTEN = 1
_MAGIC, _ID_BYTES = b"\xc2\x01", 16


class Event(NamedTuple):
    """The beginning of an event of the control topic.

    :param kind: number of its payload's type. :param group: of the connector that it is about.
    """

    kind: int
    group: str


def files_left(admin: KafkaAdmin, clients: ClientConfigs, props: Mapping[str, str]) -> str | None:
    """Why records would be lost, as text after the connector's name; None if nothing is left in its control topic.

    :param props: of a sink that does not run as the Java class, variables resolved.
    :raises ConfigError: the topic must not be read. :raises RetriableError: Kafka is unavailable.
    """
    group = props.get("iceberg.connect.group-id") or f"connect-{props['name']}"
    topic, coordinator = props.get("iceberg.control.topic") or "control-iceberg", f"{group}-coord"
    topics = admin.topics()
    if topic not in topics or not admin.committed_offsets(sink_group(props)):
        return None
    left = 0

    def look(record: LogRecord) -> None:
        nonlocal left
        left += event_of(record.value or b"") == Event(_DATA_WRITTEN, group)

    log, partitions = CompactedLog(admin, clients.consumer(coordinator), topic), range(topics[topic])
    committed = {tp.partition: at for tp, at in admin.committed_offsets(coordinator).items() if tp.topic == topic}
    begins = admin.begin_offsets(topic, partitions)
    log.positions = {partition: max(at, begins.get(partition, 0)) for partition, at in committed.items()}
    log.read(partitions, look, committed=True)
    if not left:
        return None
    return (
        f"its Java class has written data files that its coordinator (group {coordinator}) has not committed to tables:"
        f" {left} events in {topic}. Their records would be missing. Let the Java class run until its next commit"
    )


def event_of(data: bytes) -> Event | None:
    """The beginning of an event: two bytes of magic, its Avro schema as Java writes texts, an id, the type of its
    payload, a time, the group. None: it is none.
    """
    if not data.startswith(_MAGIC):
        return None
    at = 4 + int.from_bytes(data[2:4], "big") + _ID_BYTES
    try:
        kind, at = _number(data, at)
        _, at = _number(data, at)
        size, at = _number(data, at)
        return Event(kind, data[at : at + size].decode()) if at + size <= len(data) else None
    except (IndexError, UnicodeDecodeError):
        return None


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number as Avro writes it, and where it ends."""
    bits = shift = 0
    while True:
        bits |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return (bits >> 1) ^ -(bits & 1), at
