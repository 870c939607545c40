"""The plans of sinks whose tables refuse a plan that they have, in the offset topic: see docs/decisions/0059.

A plan is written before its records are, and again, with the names of its tables, before anything of it is visible.
From then on it has to be completed as it is. Both are transactions of the driver's id, as that of the positions at its
end: an older run cannot announce anything any more.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.stores.offset_topic.records import sink_plan_group, sink_plan_key
from airflow_kconnect.stores.sink_positions import SinkPositions


@dataclass(frozen=True)
class PlanState:
    """What the offset topic knows about a sink's plans.

    :param application: who numbers them. :param number: of the last one.
    :param ranges: of the last one while it is unfinished.
    :param announced: the tables that it has to be in.
    :param taken: the number of the last plan that each table took.
    :param accepted: the user has said since then where the connector resumes.
    :param doubt: an error that ends all runs until the user has.
    """

    application: str
    number: int = 0
    ranges: tuple[SinkSplit, ...] = ()
    announced: tuple[str, ...] = ()
    taken: Mapping[str, int] = field(default_factory=dict)
    accepted: bool = False
    doubt: str = ""

    @property
    def plan(self) -> SinkPlan:
        """The last plan."""
        return SinkPlan(self.application, self.number, self.ranges)

    def encode(self) -> bytes:
        """The record's value."""
        return canonical_json({"version": 1, **asdict(self)}).encode()

    @classmethod
    def decode(cls, value: bytes) -> PlanState:
        """:raises ValueError, TypeError, KeyError: the bytes are not such a record."""
        fields = json.loads(value)
        if not isinstance(fields, dict) or fields.pop("version") != 1:
            raise ValueError("not a plan of a sink, in version 1")
        fields["ranges"] = tuple(SinkSplit(**range_) for range_ in fields["ranges"])
        fields["announced"] = tuple(fields["announced"])
        return cls(**fields)


@dataclass(frozen=True)
class KnownPlan:
    """What the offset topic knows about the plans of one of its consumer groups.

    :param written_ms: when that was written: nothing that the last plan has staged is older; if it was announced,
        nothing that becomes visible of it.
    """

    group: str
    state: PlanState
    written_ms: int


def plans_of_all(clients: ClientConfigs, admin: GroupAdmin, offset_topic: str) -> list[KnownPlan]:
    """Those of all groups, replays among them. Waits for transactions that are open.

    :raises DataError: a record cannot be read. :raises RetriableError: the broker is unavailable.
    """
    found: dict[str, dict[int, LogRecord]] = {}

    def add(record: LogRecord) -> None:
        if (group := sink_plan_group(record.key or b"null")) is not None:
            found.setdefault(group, {})[record.partition] = record

    if partitions := admin.partitions(offset_topic):
        CompactedLog(admin, clients.consumer("connect-sink-plans"), offset_topic).read(range(partitions), add)
    newest = {group: _newest(records.values()) for group, records in found.items()}
    return [
        KnownPlan(group, _decoded(group, record.value, record), record.timestamp_ms)
        for group, record in newest.items()
        if record is not None and record.value is not None
    ]


class SinkPlans:
    """Reads and writes the plans of one consumer group.

    :param positions: of the same group: what is read is committed together with the plan that it belongs to.
    """

    def __init__(
        self,
        clients: ClientConfigs,
        admin: GroupAdmin,
        offset_topic: str,
        group: str,
        connector: str,
        positions: SinkPositions,
    ) -> None:
        self._clients, self._admin, self._topic = clients, admin, offset_topic
        self._group, self._connector, self._positions = group, connector, positions
        self.state = PlanState("")

    def read(self) -> PlanState:
        """What is known. Without a record, a new application begins.

        :raises DataError: the record cannot be read.
        """
        found: dict[int, LogRecord] = {}
        key = sink_plan_key(self._group)

        def add(record: LogRecord) -> None:
            if record.key == key:
                found[record.partition] = record

        if partitions := self._admin.partitions(self._topic):
            CompactedLog(self._admin, self._clients.consumer(self._group), self._topic).read(range(partitions), add)
        newest = _newest(found.values())
        if newest is None or newest.value is None:
            self.state = PlanState(f"{self._connector}-{uuid.uuid4().hex[:12]}")
        else:
            self.state = _decoded(self._group, newest.value, newest)
        return self.state

    def begin(
        self, producer: TransactionalProducer, ranges: Collection[SinkSplit], reached: Mapping[TopicPartition, int]
    ) -> SinkPlan:
        """A new plan, with the next number."""
        state = replace(self.state, number=self.state.number + 1, ranges=tuple(ranges), announced=())
        self._write(producer, state, reached)
        return state.plan

    def announce(
        self, producer: TransactionalProducer, tables: Collection[str], reached: Mapping[TopicPartition, int]
    ) -> None:
        """The plan will be visible in these tables. :raises FencedError: a newer run has begun."""
        names = tuple(sorted({*self.state.announced, *tables}))
        if names != self.state.announced:
            self._write(producer, replace(self.state, announced=names, accepted=False), reached)

    def finish(self, producer: TransactionalProducer, reached: Mapping[TopicPartition, int]) -> None:
        """The plan is in all of its tables, and the positions are those after it."""
        taken = {**self.state.taken, **dict.fromkeys(self.state.announced, self.state.number)}
        self._write(producer, replace(self.state, ranges=(), announced=(), taken=taken), reached)

    def drop(self, producer: TransactionalProducer, reached: Mapping[TopicPartition, int]) -> None:
        """The plan will not be completed: its number is not used again."""
        if self.state.ranges:
            self._write(producer, replace(self.state, ranges=(), announced=()), reached)

    def doubt(self, producer: TransactionalProducer, error: str) -> None:
        """Tables have plans that are not known: no run begins before the user has looked at them.

        :raises FencedError: a newer run has begun; it knows them.
        """
        self._write(producer, replace(self.state, doubt=error), {})

    def accept(self, producer: TransactionalProducer) -> None:
        """The user says where the connector resumes: tables may have lost what they took before, or have more than is
        known. So plans are numbered from the present second on: that is higher than whatever tables have. A plan that
        is to be completed keeps its number.
        """
        number = self.state.number if self.state.ranges else max(self.state.number + 1, int(time.time()))
        self._write(producer, replace(self.state, number=number, taken={}, accepted=True, doubt=""), {})

    def forget(self, producer: TransactionalProducer) -> None:
        """There will be no other plan, and none is unfinished."""
        producer.begin()
        producer.produce_patiently(self._topic, None, sink_plan_key(self._group))
        producer.commit()

    def _write(self, producer: TransactionalProducer, state: PlanState, reached: Mapping[TopicPartition, int]) -> None:
        producer.begin()
        producer.produce_patiently(self._topic, state.encode(), sink_plan_key(self._group))
        self._positions.send(producer, reached)
        producer.commit()
        self.state = state


def _newest(records: Collection[LogRecord]) -> LogRecord | None:
    """A key can be in two partitions of an offset topic to which partitions were added."""
    return max(records, key=lambda record: (record.timestamp_ms, record.offset), default=None)


def _decoded(group: str, value: bytes, where: object) -> PlanState:
    try:
        return PlanState.decode(value)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            f"consumer group {group}: the record of its plans, at {where}, cannot be read: {error}. It says what its"
            " tables have: only if they have all that was read, write a null value with the same key"
        ) from error
