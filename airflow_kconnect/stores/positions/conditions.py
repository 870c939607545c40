"""What sensors and triggers wait for, as data: each condition can check itself and report what it saw.

Importing this module loads no Kafka client: DAG files import it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.stores.positions.condition import Condition, Finding
from airflow_kconnect.stores.positions.offset_order import reached
from airflow_kconnect.stores.positions.slot import SlotCondition

if TYPE_CHECKING:
    from airflow_kconnect.stores.positions.positions import ConnectorPositions, PartitionPosition, SinkPosition

# Details are reported for at most this many topics or partitions: XCom is not meant for thousands.
_SHOWN = 20
_STATES = ("STARTED", "PAUSED", "STOPPED")


@dataclass(frozen=True)
class LagCondition(Condition):
    """A sink lags by at least this much (`min_*`: either one is enough), or by at most this much (`max_*`: all of
    them).

    :param topic: count this topic alone; None: all topics of the sink.
    :raises ConfigError: no bound, bounds of both kinds, or a bound that is always met.
    """

    kind: ClassVar[str] = "lag"

    min_records: int | None = None
    min_seconds: float | None = None
    max_records: int | None = None
    max_seconds: float | None = None
    topic: str | None = None

    def __post_init__(self) -> None:
        at_least = {"min_records": self.min_records, "min_seconds": self.min_seconds}
        at_most = {"max_records": self.max_records, "max_seconds": self.max_seconds}
        errors = {key: ["must be greater than 0"] for key, n in at_least.items() if n is not None and n <= 0}
        errors |= {key: ["must not be negative"] for key, n in at_most.items() if n is not None and n < 0}
        given = [any(n is not None for n in bounds.values()) for bounds in (at_least, at_most)]
        if sum(given) != 1:
            errors["min_records"] = [
                "wait either for a lag (`min_records`, `min_seconds`) or for its end (`max_records`, `max_seconds`)"
            ]
        if errors:
            raise ConfigError(errors)

    @property
    def _timed(self) -> bool:
        return self.min_seconds is not None or self.max_seconds is not None

    @property
    def _is_minimum(self) -> bool:
        return self.min_records is not None or self.min_seconds is not None

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        return self.finding(connector, self.position(connector))

    def position(self, connector: ConnectorPositions) -> SinkPosition:
        """The sink's position in the topics that count."""
        position = connector.sink(timestamps=self._timed)
        if self.topic is None:
            return position
        named = named_topics({"topics": str(connector.config.get("topics", ""))})
        if named and self.topic not in named:
            text = f"{self.topic} is not among the `topics`: {', '.join(named)}"
            raise ConfigError({"topic": [text]}, connector.name)
        return position.topic(self.topic)

    def finding(self, connector: ConnectorPositions, position: SinkPosition) -> Finding:
        """Evaluate a position. A missing topic has no records yet, but the sink has not caught up with it either.

        Nor has it caught up with an open transaction that a run could not read yet. Where a first run has to fix at
        which end the sink begins, any minimum is met: without it there would never be anything to read.
        """
        if not self._is_minimum:
            _refuse_missing(connector, position)
            position = position.with_open_transactions()
        seconds = position.seconds() if self._timed else None
        met = self.met(position.records(), seconds) or (self._is_minimum and position.awaits_run())
        return Finding(met, _lag_facts(connector, position, seconds))

    def met(self, records: int, seconds: float | None) -> bool:
        """Whether a lag satisfies the bounds. :param seconds: None if no bound needs it."""
        if self._is_minimum:
            enough = self.min_records is not None and records >= self.min_records
            return enough or (self.min_seconds is not None and (seconds or 0.0) >= self.min_seconds)
        few = self.max_records is None or records <= self.max_records
        return few and (self.max_seconds is None or (seconds or 0.0) <= self.max_seconds)


@dataclass(frozen=True)
class SourceOffsetCondition(Condition):
    """A source partition has reached an offset: each field of it is there and at least as large.

    :param partition: as in Connect, e.g. ``{"filename": "/data/in"}``. :param offset: e.g. ``{"position": 1000}``.
    """

    kind: ClassVar[str] = "source_offset"

    partition: Mapping[str, Any]
    offset: Mapping[str, Any]

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        committed = connector.source().get(partition_identity(self.partition))
        met = committed is not None and reached(committed, self.offset)
        position = {"connector": connector.name, "partition": dict(self.partition), "offset": committed}
        return Finding(met, position)


@dataclass(frozen=True)
class SinkOffsetCondition(Condition):
    """A sink has committed an offset of a topic-partition, or a later one.

    :param offset: the next offset to read, as in Kafka: all records before it are written.
    """

    kind: ClassVar[str] = "sink_offset"

    topic: str
    partition: int
    offset: int

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        topic_partition = TopicPartition(self.topic, self.partition)
        partition_state = {partition.topic_partition: partition for partition in connector.sink().partitions}.get(
            topic_partition
        )
        if partition_state is None:
            raise ConfigError(
                {"partition": [f"{topic_partition} is not a topic-partition that this sink reads"]}, connector.name
            )
        committed = partition_state.committed or 0
        return Finding(committed >= self.offset, _offset_facts(connector, [partition_state]))


@dataclass(frozen=True)
class TimestampCondition(Condition):
    """A sink has passed a point in time: it has written all records before the first one with this timestamp.

    In a partition without such a record, the sink must have caught up and the time must have passed.

    :param timestamp_ms: ms since the epoch.
    """

    kind: ClassVar[str] = "timestamp"

    timestamp_ms: int

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        time_has_come = time.time() * 1000 >= self.timestamp_ms
        position = connector.sink()
        _refuse_missing(connector, position)
        firsts = connector.first_offsets_at(position, self.timestamp_ms)
        behind = [p for p in position.partitions if not self._passed(p, firsts[p.topic_partition], time_has_come)]
        moment = datetime.fromtimestamp(self.timestamp_ms / 1000, UTC).isoformat()
        facts = _offset_facts(connector, behind or position.partitions)
        return Finding(not behind, {**facts, "timestamp": moment, "partitions_behind": len(behind)})

    @staticmethod
    def _passed(partition: PartitionPosition, first: int, time_has_come: bool) -> bool:
        if first < 0:
            return time_has_come and partition.unread == 0
        return partition.start >= first


@dataclass(frozen=True)
class StateCondition(Condition):
    """The target state of a connector is one of these.

    :raises ConfigError: no state, or an unknown one.
    """

    kind: ClassVar[str] = "state"

    states: Sequence[str]

    def __post_init__(self) -> None:
        unknown = [state for state in self.states if state not in _STATES]
        if unknown or not self.states:
            what = f"has unknown states {', '.join(unknown)}" if unknown else "is empty"
            raise ConfigError({"states": [f"{what}; expected some of: {', '.join(_STATES)}"]})

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        state = connector.target_state().value
        return Finding(state in self.states, {"connector": connector.name, "state": state})


_CONDITIONS: dict[str, type[Condition]] = {
    condition.kind: condition
    for condition in (
        LagCondition,
        SourceOffsetCondition,
        SinkOffsetCondition,
        TimestampCondition,
        StateCondition,
        SlotCondition,
    )
}


def current_lag(connector: ConnectorPositions) -> dict[str, Any]:
    """What a sink still has to read: connector, records, seconds, topics.

    :raises ConfigError: it is a source, or a topic does not exist. :raises RetriableError: the broker is unavailable.
    """
    position = connector.sink(timestamps=True).with_open_transactions()
    _refuse_missing(connector, position)
    return _lag_facts(connector, position, position.seconds())


def condition_to_dict(condition: Condition) -> dict[str, Any]:
    """Plain JSON data, for `condition_from_dict`."""
    fields = asdict(condition)
    return {"kind": condition.kind, **{key: value for key, value in fields.items() if value is not None}}


def condition_from_dict(data: Mapping[str, Any], *others: type[Condition]) -> Condition:
    """The condition that was passed to `condition_to_dict`. :param others: kinds of conditions that are not ours."""
    fields = dict(data)
    kind = fields.pop("kind")
    return {**_CONDITIONS, **{other.kind: other for other in others}}[kind](**fields)


def _refuse_missing(connector: ConnectorPositions, position: SinkPosition) -> None:
    if position.missing:
        raise ConfigError({"topics": [f"topic {name} does not exist" for name in position.missing]}, connector.name)


def _lag_facts(connector: ConnectorPositions, position: SinkPosition, seconds: float | None) -> dict[str, Any]:
    topics: Counter[str] = Counter()
    for partition in position.partitions:
        topics[partition.topic_partition.topic] += partition.records
    facts: dict[str, Any] = {"connector": connector.name, "records": position.records()}
    if seconds is not None:
        facts["seconds"] = round(seconds, 3)
    facts["topics"] = dict(topics.most_common(_SHOWN))
    return facts | ({"missing_topics": list(position.missing)} if position.missing else {})


def _offset_facts(connector: ConnectorPositions, partitions: Sequence[PartitionPosition]) -> dict[str, Any]:
    shown = {str(partition.topic_partition): partition.committed for partition in partitions[:_SHOWN]}
    return {"connector": connector.name, "offsets": shown}
