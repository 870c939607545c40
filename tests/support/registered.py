"""Connectors as runs and users have left them: written to a worker's topics directly, a thousand at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.runtime.bad_records import CONTEXT_PREFIX
from airflow_kconnect.stores.config_topic.records import CONNECTOR, RecordKey, encode_properties
from airflow_kconnect.stores.offset_topic.records import TopicRead, offset_key, offset_value, sink_key
from airflow_kconnect.stores.status_topic.records import ConnectorKey, State, Status, TaskKey, TopicKey, TopicStatus
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunsKey
from airflow_kconnect.stores.target_states import TargetState, encode_target_state, target_state_key
from tests.support.kafka import create_topic, produce

_STORES = {"config": 1, "offset": 5, "status": 5}
_TARGETS = {State.PAUSED: TargetState.PAUSED, State.STOPPED: TargetState.STOPPED}


@dataclass
class Registered:
    """A connector.

    :param tasks: their states. :param trace: why the failed ones, or the connector, have failed.
    :param offsets: of a source: pairs of a partition and its offset.
    :param committed: of a sink: topic -> offset of its partition 0.
    :param runs: what its runs have told. :param registered: False: it has only run, as from a file or a DAG.
    """

    name: str
    config: Mapping[str, str]
    state: State = State.RUNNING
    tasks: tuple[State, ...] = (State.RUNNING,)
    trace: str | None = None
    topics: tuple[str, ...] = ()
    offsets: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = ()
    committed: Mapping[str, int] = field(default_factory=dict)
    age_s: float = 0.0
    runs: ConnectorRuns | None = None
    registered: bool = True


class WorkerTopics:
    """The topics of a worker, created here."""

    def __init__(self, bootstrap: str, props: Mapping[str, str]) -> None:
        self._bootstrap = bootstrap
        self._topics = {store: props[f"{store}.storage.topic"] for store in _STORES}
        existing = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).topics
        for store, partitions in _STORES.items():
            if self._topics[store] not in existing:
                create_topic(bootstrap, self._topics[store], partitions, {"cleanup.policy": "compact"})
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})

    def add(self, *connectors: Registered) -> None:
        """Write all about these connectors, and return once the broker has it."""
        for each in connectors:
            if each.registered:
                self._configuration(each)
            self._statuses(each)
            self._offsets(each)
        assert self._producer.flush(60) == 0

    def write_config(self, name: str, value: bytes) -> None:
        """Write any bytes in the place of a configuration."""
        self._write("config", RecordKey(CONNECTOR, name).encode(), value, Registered(name, {}))
        assert self._producer.flush(60) == 0

    def _configuration(self, each: Registered) -> None:
        config = {**each.config, "name": each.name}
        target = _TARGETS.get(each.state, TargetState.STARTED)
        self._write("config", RecordKey(CONNECTOR, each.name).encode(), encode_properties(config), each)
        self._write("config", target_state_key(each.name), encode_target_state(target), each)

    def _statuses(self, each: Registered) -> None:
        worker = "spark-7f9c:kconnect"
        for task, state in enumerate(each.tasks):
            trace = each.trace if state is State.FAILED else None
            status = Status(state, worker, 1, trace, "0.1.0").encode()
            self._write("status", TaskKey(each.name, task).encode(), status, each)
        trace = each.trace if each.state is State.FAILED else None
        status = Status(each.state, worker, 1, trace, "0.1.0").encode()
        self._write("status", ConnectorKey(each.name).encode(), status, each)
        for topic in each.topics:
            topic_status = TopicStatus(topic, each.name, 0, int((time.time() - each.age_s) * 1000))
            self._write("status", TopicKey(each.name, topic).encode(), topic_status.encode(), each)
        if each.runs is not None:
            self._write("status", RunsKey(each.name).encode(), each.runs.encode(), each)

    def _offsets(self, each: Registered) -> None:
        for partition, offset in each.offsets:
            self._write("offset", offset_key(each.name, partition), offset_value(offset), each)
        group = f"connect-{each.name}"
        for topic, at in each.committed.items():
            self._write("offset", sink_key(group, topic), TopicRead(None, (at,)).encode(), each)
        if each.committed:
            commit(self._bootstrap, group, each.committed)

    def _write(self, store: str, key: bytes, value: bytes | None, each: Registered) -> None:
        when = int((time.time() - each.age_s) * 1000)
        partition = partition_of(key, _STORES[store])
        self._producer.produce(self._topics[store], value, key, partition, timestamp=when)
        self._producer.poll(0)


def commit(bootstrap: str, group: str, offsets: Mapping[str, int]) -> None:
    """Commit offsets of the partitions 0 of topics for a consumer group."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    topic_partitions = [KafkaTopicPartition(topic, 0, offset) for topic, offset in offsets.items()]
    consumer.commit(offsets=topic_partitions, asynchronous=False)
    consumer.close()


def dead_letter(bootstrap: str, topic: str, connector: str, value: Any, message: str) -> None:
    """Write a dead letter as a run does."""
    context = {
        "topic": "orders",
        "partition": "0",
        "offset": "4711",
        "connector.name": connector,
        "stage": "VALUE_CONVERTER",
        "class.name": "org.apache.kafka.connect.json.JsonConverter",
        "exception.class.name": "org.apache.kafka.connect.errors.DataException",
        "exception.message": message,
    }
    headers: list[tuple[str, bytes | None]] = [(CONTEXT_PREFIX + name, text.encode()) for name, text in context.items()]
    text = value if isinstance(value, str) else json.dumps(value)
    produce(bootstrap, topic, [text], key="k", headers=headers)
