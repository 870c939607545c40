"""Sensors for a connector's position: its lag, its offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.moments import in_utc_without_zone, moment_of
from airflow_kconnect.sensors.base import ConnectorSensor
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.conditions import (
    LagCondition,
    SinkOffsetCondition,
    SourceOffsetCondition,
    TimestampCondition,
)

N = TypeVar("N", int, float)


class ConnectorLagSensor(ConnectorSensor):
    """Waits until a sink has fallen behind by a given lag, or until it has caught up.

    .. code-block:: python

        ConnectorLagSensor(task_id="enough", connector=SINK, min_records=10_000, min_seconds=600)
        ConnectorLagSensor(task_id="caught_up", connector=SINK, max_records=0)

    :param min_records: it has at least this many records to read; or
    :param min_seconds: its oldest unread record is at least this old. Either one is enough.
    :param max_records: it has at most this many records to read; and
    :param max_seconds: its oldest unread record is at most this old. If both are given, both must hold.
    :param topic: count this topic alone; default: all topics of the sink together.
    :raises ConfigError: bounds of both kinds, or none.

    All five are templated. Other parameters: see `ConnectorSensor`.
    """

    template_fields: Sequence[str] = (
        *ConnectorSensor.template_fields,
        *("min_records", "min_seconds", "max_records", "max_seconds", "topic"),
    )

    def __init__(
        self,
        *,
        min_records: int | str | None = None,
        min_seconds: float | str | None = None,
        max_records: int | str | None = None,
        max_seconds: float | str | None = None,
        topic: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.min_records, self.min_seconds = min_records, min_seconds
        self.max_records, self.max_seconds = max_records, max_seconds
        self.topic = topic
        if not any(isinstance(bound, str) for bound in (min_records, min_seconds, max_records, max_seconds)):
            self._condition()  # so that wrong bounds are reported when the DAG is parsed

    def _condition(self) -> Condition:
        """See `ConnectorSensor.condition`."""
        return LagCondition(
            _bound("min_records", self.min_records, int),
            _bound("min_seconds", self.min_seconds, float),
            _bound("max_records", self.max_records, int),
            _bound("max_seconds", self.max_seconds, float),
            self.topic,
        )


class ConnectorOffsetSensor(ConnectorSensor):
    """Waits until a connector has reached an offset, or a sink a point in time.

    .. code-block:: python

        ConnectorOffsetSensor(
            task_id="file_read", connector=SOURCE, partition={"filename": "/data/in"}, offset={"position": 1000}
        )
        ConnectorOffsetSensor(
            task_id="offset_written",
            connector=SINK,
            partition={"kafka_topic": "orders", "kafka_partition": 0},
            offset={"kafka_offset": 1000},
        )
        ConnectorOffsetSensor(task_id="interval_written", connector=SINK, timestamp="{{ data_interval_end }}")

    `partition` and `offset` are those of Connect's REST API. For a source, each field of the offset must be there and
    at least as large. A sink has passed a point in time when it has written all records before the first one with this
    timestamp or a later one; where there is none, when it has caught up and the time has passed.

    :param partition: source partition, or `{"kafka_topic", "kafka_partition"}`. (templated)
    :param offset: source offset, or `{"kafka_offset"}`, the next offset to read. (templated)
    :param timestamp: the point in time, instead of both: a `datetime` or ISO string, UTC if it has no zone. (templated)
    :raises ConfigError: not exactly one of the two was given.

    Other parameters: see `ConnectorSensor`.
    """

    template_fields: Sequence[str] = (*ConnectorSensor.template_fields, "partition", "offset", "timestamp")

    def __init__(
        self,
        *,
        partition: Mapping[str, Any] | None = None,
        offset: Mapping[str, Any] | None = None,
        timestamp: datetime | str | None = None,
        **kwargs: Any,
    ) -> None:
        if (partition is None) != (offset is None) or (partition is None) == (timestamp is None):
            raise ConfigError({"offset": ["wait either for `partition` and `offset`, or for `timestamp`"]})
        super().__init__(**kwargs)
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp

    def _condition(self) -> Condition:
        """See `ConnectorSensor.condition`."""
        if self.timestamp is not None:
            return TimestampCondition(int(_moment(self.timestamp).timestamp() * 1000))
        partition, offset = _mapping("partition", self.partition), _mapping("offset", self.offset)
        if "kafka_topic" not in partition:
            return SourceOffsetCondition(partition, offset)
        errors = {
            key: [f"lacks `{member}`"]
            for key, data, member in (("partition", partition, "kafka_partition"), ("offset", offset, "kafka_offset"))
            if member not in data
        }
        if errors:
            raise ConfigError(errors)
        number = _number("partition.kafka_partition", partition["kafka_partition"])
        return SinkOffsetCondition(
            str(partition["kafka_topic"]), number, _number("offset.kafka_offset", offset["kafka_offset"])
        )


def _bound(key: str, value: Any, kind: Callable[[str], N]) -> N | None:
    return None if value is None else _parsed(key, value, kind)


def whole_number(key: str, value: Any) -> int | None:
    """A rendered parameter.

    :raises ConfigError: it is not a whole number.
    """
    return _bound(key, value, int)


def _number(key: str, value: Any) -> int:
    return _parsed(key, value, int)


def _parsed(key: str, value: Any, kind: Callable[[str], N]) -> N:
    try:
        return kind(str(value))
    except ValueError:
        raise ConfigError({key: [f"is {value!r}; expected a {'whole number' if kind is int else 'number'}"]}) from None


def _mapping(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise ConfigError({key: [f"is {value!r}; expected a map that is not empty"]})
    return dict(value)


def _moment(value: datetime | str) -> datetime:
    try:
        return in_utc_without_zone(value) if isinstance(value, datetime) else moment_of(value.strip())
    except ValueError:
        cure = "expected a point in time such as 2026-01-31T12:00:00Z"
        raise ConfigError({"timestamp": [f"is {value!r}; {cure}"]}) from None
