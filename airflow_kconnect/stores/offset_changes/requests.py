"""Validates requests to alter offsets, in the format of Connect's REST API (KIP-875) and with its error texts. No I/O.

`{"offsets": [{"partition": {...}, "offset": {...} or null}]}`; null resets the partition. If there are several entries
for one partition, the last one wins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.java_text.json import partition_identity

OffsetChange = tuple[dict[str, Any], Offset | None]
READ_PATIENCE_S = 5.0
"""How long those who only look at offsets wait for transactions.

A run that has just ended may have one whose end the broker has yet to write; one that was killed may leave one open for
a minute. This is enough for the former.
"""

_TOPIC, _PARTITION, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
_SHAPE = 'expected {"offsets": [{"partition": {...}, "offset": {...}}, ...]}'
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


class _Errors:
    """All errors in a request."""

    def __init__(self, connector: str) -> None:
        self._connector, self._texts = connector, dict[str, None]()

    def add(self, text: str) -> None:
        self._texts[text] = None

    def raise_if_any(self) -> None:
        if self._texts:
            raise ConfigError({"offsets": list(self._texts)}, self._connector)


def source_request(request: Any, connector: str) -> list[OffsetChange]:
    """(source partition, offset) pairs; an offset of None means reset.

    :param request: parsed JSON.
    :param connector: its name, for error texts.
    :raises ConfigError: with all errors, keyed by `offsets`.
    """
    errors = _Errors(connector)
    changes: dict[str, OffsetChange] = {}
    for partition, offset in _entries(request, errors):
        if partition is None:
            errors.add("Partition objects cannot be null")
            continue
        for field, value in [*partition.items(), *(offset or {}).items()]:
            if (kind := _no_primitive(value)) is not None:
                errors.add(f"Offsets may only contain primitive types as values, but field {field} contains {kind}")
        changes[partition_identity(partition)] = (partition, offset)
    errors.raise_if_any()
    return list(changes.values())


def sink_request(request: Any, connector: str) -> dict[TopicPartition, int | None]:
    """Topic-partition -> offset; None means reset. Numbers may be given as strings, as in Connect.

    :param request: parsed JSON.
    :param connector: its name, for error texts.
    :raises ConfigError: with all errors, keyed by `offsets`.
    """
    errors = _Errors(connector)
    offsets: dict[TopicPartition, int | None] = {}
    for partition, offset in _entries(request, errors):
        try:
            offsets[_topic_partition(partition)] = _kafka_offset(offset)
        except ValueError as error:
            errors.add(str(error))
    errors.raise_if_any()
    return offsets


def partition_shown(topic_partition: TopicPartition) -> dict[str, Any]:
    """A sink's partition as Connect shows it."""
    return {_TOPIC: topic_partition.topic, _PARTITION: topic_partition.partition}


def offset_shown(offset: int) -> dict[str, Any]:
    """A sink's offset as Connect shows it."""
    return {_OFFSET: offset}


def _no_primitive(value: Any) -> str | None:
    """What kind of value this is if offsets cannot hold it, else None."""
    if isinstance(value, float):
        return None if math.isfinite(value) else str(value)
    return None if value is None or isinstance(value, str | int) else type(value).__name__


def _entries(request: Any, errors: _Errors) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """(partition, offset) of each well-formed entry."""
    entries = request.get("offsets") if isinstance(request, Mapping) else request
    if entries is None or entries == []:
        errors.add("Partitions / offsets need to be provided for an alter offsets request")
        return
    if not isinstance(entries, list):
        errors.add(f"{type(entries).__name__} is not a list; {_SHAPE}")
        return
    for number, entry in enumerate(entries, start=1):
        wrong = _problem(entry)
        if wrong is None:
            yield entry.get("partition"), entry.get("offset")
        else:
            errors.add(f"entry {number} {wrong}; {_SHAPE}")


def _problem(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "is not a JSON object"
    if unknown := sorted(entry.keys() - {"partition", "offset"}):
        return f'has the unknown field "{unknown[0]}"'
    if "offset" not in entry:
        return "has no offset (null resets the partition)"
    for name in ("partition", "offset"):
        value = entry.get(name)
        if value is not None and not (isinstance(value, dict) and all(isinstance(key, str) for key in value)):
            return f"has a value of `{name}` that is not a JSON object"
    return None


def _topic_partition(partition: Mapping[str, Any] | None) -> TopicPartition:
    if partition is None:
        raise ValueError("The partition for a sink connector offset cannot be null or missing")
    if not {_TOPIC, _PARTITION} <= partition.keys():
        raise ValueError(
            f"The partition for a sink connector offset must contain the keys '{_TOPIC}' and '{_PARTITION}'"
        )
    topic, number = partition[_TOPIC], partition[_PARTITION]
    if topic is None:
        raise ValueError("Kafka topic names must be valid strings and may not be null")
    if number is None:
        raise ValueError("Kafka partitions must be valid numbers and may not be null")
    return TopicPartition(str(topic), _whole(number, "Partition", "partition"))


def _kafka_offset(offset: Mapping[str, Any] | None) -> int | None:
    if offset is None:
        return None
    if offset.get(_OFFSET) is None:
        raise ValueError(f"The offset for a sink connector should either be null or contain the key '{_OFFSET}'")
    return _whole(offset[_OFFSET], "Offset", "offset")


def _whole(value: Any, plural: str, what: str) -> int:
    if not _WHOLE.fullmatch(str(value)):
        raise ValueError(
            f"Failed to parse the following Kafka {what} value in the provided offsets: '{value}'. {plural} values for"
            " sink connectors need to be integers."
        )
    return int(value)
