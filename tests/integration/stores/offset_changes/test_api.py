"""Offsets of connectors in a real Kafka: shown, altered and reset between runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from airflow_kconnect.connect.connector.source import Split
from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.offset_changes import api as connector_offsets
from airflow_kconnect.stores.offset_changes import sink as sink_offsets
from airflow_kconnect.stores.offset_changes import source as source_offsets
from airflow_kconnect.stores.offset_topic.records import (
    Marker,
    PlanRecord,
    claim_key,
    facts_key,
    marker_key,
    offset_key,
    offset_value,
    plan_key,
)
from airflow_kconnect.stores.target_states import TargetState, encode_target_state, target_state_key
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import produce, read_all

ALTERED = "The offsets for this connector have been altered successfully"
RESET = "The offsets for this connector have been reset successfully"
FILE, OTHER = {"filename": "/a"}, {"filename": "/b"}
MURMUR2 = {"partitioner": "murmur2_random"}
PLAN = PlanRecord("plan-1", "run-1", 1, (Split(FILE, 0, 10),))


def entry(partition: Mapping[str, Any], offset: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"partition": dict(partition), "offset": None if offset is None else dict(offset)}


def place(topic: str, partition: int = 0) -> dict[str, Any]:
    return {"kafka_topic": topic, "kafka_partition": partition}


class Connector:
    """A connector that was stopped, and what is done with its offsets.

    :param config: in the worker's Kafka.
    """

    def __init__(self, config: dict[str, str], worker: Mapping[str, str]) -> None:
        self.worker = WorkerConfig.from_props(worker)
        self.config = validate_connector(config, worker=self.worker)
        self.name, self._servers = self.config.name, worker["bootstrap.servers"]
        self.clients = ClientConfigs(self.worker.props, self.config.props, self.name)
        self.want(TargetState.STOPPED)

    def want(self, state: TargetState) -> None:
        produce(self._servers, "connect-configs", [encode_target_state(state)], key=target_state_key(self.name))

    def read(self) -> list[dict[str, Any]]:
        return connector_offsets.read(self.config, self.worker)

    def alter(self, *entries: dict[str, Any]) -> str:
        return connector_offsets.alter(self.config, self.worker, {"offsets": list(entries)})

    def reset(self) -> str:
        return connector_offsets.reset(self.config, self.worker)

    def settle(self) -> None:
        connector_offsets.settle(self.config, self.worker)

    def write(self, *records: tuple[Any, ...]) -> None:
        """Records in the offset topic: (key, value), or (key, value, partition)."""
        topic = str(self.worker.get("offset.storage.topic"))
        for key, value, *partition in records:
            produce(
                self._servers, topic, [value], key=key, partition=partition[0] if partition else -1, settings=MURMUR2
            )

    def write_offset(self, partition: dict[str, Any], offset: dict[str, Any]) -> None:
        """As a run commits it."""
        self.write((offset_key(self.name, partition), offset_value(offset)))

    def records(self, bootstrap: str) -> dict[bytes | None, bytes | None]:
        """Key -> last value of its records in the offset topic."""
        found = read_all(bootstrap, str(self.worker.get("offset.storage.topic")))
        return {record.key: record.value for record in found if self.name.encode() in (record.key or b"")}

    def live_producer(self, transactional_id: str) -> TransactionalProducer:
        """One of a run in progress, in a transaction."""
        producer = TransactionalProducer(self.clients.producer(transactional_id), "test")
        producer.begin()
        return producer


@pytest.fixture
def source(worker_props: dict[str, str]) -> Connector:
    """A file source."""
    config = {"name": unique("fs"), "connector.class": "FileStreamSource", "file": "/a", "topic": "t"}
    return Connector(config, worker_props)


class TestSource:
    def test_what_is_altered_is_shown_and_null_resets_one_partition(self, source: Connector, bootstrap: str) -> None:
        assert source.read() == []
        source.write_offset(FILE, {"position": 7})
        assert source.alter(entry(FILE, {"position": 3}), entry(OTHER, {"position": 9})) == ALTERED
        assert sorted(source.read(), key=str) == [entry(FILE, {"position": 3}), entry(OTHER, {"position": 9})]
        source.alter(entry(FILE, None))
        assert source.read() == [entry(OTHER, {"position": 9})]
        assert source.records(bootstrap)[claim_key(source.name)] is None

    def test_a_key_that_is_there_is_used_again(self, source: Connector, bootstrap: str) -> None:
        key = f'["{source.name}",{{"filename":"/a","b":1}}]'.encode()
        source.write((key, b'{"position":1}'))
        source.alter(entry({"b": 1, "filename": "/a"}, {"position": 2}))
        assert source.records(bootstrap)[key] == b'{"position":2}'

    def test_what_was_remembered_next_to_the_old_offset_goes(self, source: Connector, bootstrap: str) -> None:
        key = facts_key(source.name, '{"filename":"/a"}')
        source.write((key, b'{"head_bytes":1}'))
        source.alter(entry(FILE, {"position": 7}))
        assert source.records(bootstrap)[key] is None

    def test_the_connector_has_its_say(self, source: Connector) -> None:
        with pytest.raises(ConfigError) as caught:
            source.alter(entry(FILE, {"position": "x"}), entry({"f": 1}, {"position": -1}))
        assert caught.value.errors["offsets"] == [
            "The value for the 'position' key in the offset is expected to be a Long value",
            "The value for the 'position' key in the offset should be a non-negative value",
            "Partition objects should contain the key 'filename'",
        ]

    def test_one_that_knows_nothing_of_its_offsets_says_so(self, worker_props: dict[str, str]) -> None:
        config = {"name": unique("vs"), "connector.class": "VerifiableSource", "topic": "t"}
        message = Connector(config, worker_props).alter(entry({"id": 0}, {"seqno": 5}))
        assert message.endswith("they will need to be manually altered in the system that the connector uses.")

    @pytest.mark.parametrize("state", [TargetState.STARTED, TargetState.PAUSED])
    def test_it_must_be_stopped(self, source: Connector, state: TargetState) -> None:
        source.want(state)
        for change in (lambda: source.alter(entry(FILE, {"position": 7})), source.reset, source.settle):
            with pytest.raises(ConfigError, match=f"must be in the STOPPED state .* `kconnect stop {source.name}`"):
                change()

    def test_an_unfinished_run_must_be_finished_first(self, source: Connector) -> None:
        source.write((plan_key(source.name), PLAN.encode()))
        for change in (lambda: source.alter(entry(FILE, {"position": 7})), source.settle):
            with pytest.raises(DataError, match="run run-1 is not finished"):
                change()

    def test_a_run_in_progress_commits_nothing_more(self, source: Connector) -> None:
        group = str(source.worker.get("group.id"))
        ids = transactional_ids.driver_id(group, source.name), transactional_ids.task_id(group, source.name, 0)
        producers = [source.live_producer(each) for each in ids]
        source.alter(entry(FILE, {"position": 7}))
        for live in producers:
            live.produce(str(source.worker.get("offset.storage.topic")), b"{}", b"late")
            with pytest.raises(FencedError):
                live.commit()
            live.close()

    def test_at_least_once_needs_no_transactions(self, worker_props: dict[str, str]) -> None:
        config = {"name": unique("fs"), "connector.class": "FileStreamSource", "file": "/a", "topic": "t"}
        source = Connector(config, worker_props | {"exactly.once.source.support": "disabled"})
        source.alter(entry(FILE, {"position": 7}))
        assert source.read() == [entry(FILE, {"position": 7})]

    def test_an_offset_topic_that_does_not_exist_is_made(self, worker_props: dict[str, str]) -> None:
        config = {"name": unique("fs"), "connector.class": "FileStreamSource", "file": "/a", "topic": "t"}
        source = Connector(
            config, worker_props | {"offset.storage.topic": unique("o"), "offset.storage.partitions": "2"}
        )
        assert source.read() == []
        source.alter(entry(FILE, {"position": 7}))
        # The first transaction of a broker: its end may not have reached the topic when the commit returns.
        assert source.read() == [entry(FILE, {"position": 7})]

    def test_the_open_transaction_of_a_killed_task_does_not_delay_altering(self, source: Connector) -> None:
        group, topic = str(source.worker.get("group.id")), str(source.worker.get("offset.storage.topic"))
        killed = source.live_producer(transactional_ids.task_id(group, source.name, 0))
        killed.produce(topic, b"{}", marker_key(source.name, 0))
        killed.flush()
        started_s = time.monotonic()
        source.alter(entry(FILE, {"position": 7}))
        assert time.monotonic() - started_s < 30
        assert source.read() == [entry(FILE, {"position": 7})]
        killed.close()

    def test_an_open_transaction_does_not_hide_what_was_committed_before(
        self, source: Connector, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(source_offsets, "READ_PATIENCE_S", 3.0)
        source.write_offset(FILE, {"position": 7})
        open_one = source.live_producer(unique("id"))
        open_one.produce(str(source.worker.get("offset.storage.topic")), b"{}", b"x")
        open_one.flush()
        assert source.read() == [entry(FILE, {"position": 7})]
        open_one.abort()
        open_one.close()


class TestSourceReset:
    def test_it_removes_everything_that_the_topic_knows(self, source: Connector, bootstrap: str) -> None:
        source.write_offset(FILE, {"position": 7})
        source.write(
            (plan_key(source.name), PLAN.encode()),
            (marker_key(source.name, 0), Marker("plan-1", 5, False, 2).encode()),
            (facts_key(source.name, "{}"), b"{}"),
        )
        assert source.reset() == RESET
        assert set(source.records(bootstrap).values()) == {None}

    def test_it_removes_what_cannot_be_read_or_another_partitioner_has_put_elsewhere(self, source: Connector) -> None:
        key = f'["{source.name}",{{"filename":"/a"}}]'.encode()
        source.write((plan_key(source.name), b"no plan"), (key, b"no JSON", 0), (key, b'{"position":1}', 1))
        source.reset()
        assert source.read() == []

    def test_other_connectors_keep_theirs(self, source: Connector, worker_props: dict[str, str]) -> None:
        other = Connector(source.config.props | {"name": f"{source.name}-2"}, worker_props)
        other.write_offset(FILE, {"position": 7})
        source.reset()
        assert other.read() == [entry(FILE, {"position": 7})]


class TestSettledSource:
    def test_its_offsets_stay(self, source: Connector, bootstrap: str) -> None:
        source.write_offset(FILE, {"position": 7})
        source.settle()
        assert source.read() == [entry(FILE, {"position": 7})]
        assert source.records(bootstrap)[claim_key(source.name)] is None

    def test_a_run_in_progress_commits_nothing_more(self, source: Connector) -> None:
        live = source.live_producer(transactional_ids.task_id(str(source.worker.get("group.id")), source.name, 0))
        source.settle()
        live.produce(str(source.worker.get("offset.storage.topic")), b"{}", b"late")
        with pytest.raises(FencedError):
            live.commit()
        live.close()


@pytest.fixture
def orders(topic: Callable[..., str], bootstrap: str) -> str:
    """A topic with two partitions and ten records in each."""
    name = topic(partitions=2)
    for partition in range(2):
        produce(bootstrap, name, map(str, range(10)), partition=partition)
    return name


@pytest.fixture
def sink(worker_props: dict[str, str], orders: str) -> Connector:
    """A directory sink of `orders`."""
    config = {"name": unique("ds"), "connector.class": "DirectorySink", "topics": orders, "directory": "/nowhere"}
    return Connector(config, worker_props)


class TestSink:
    def test_what_is_altered_is_shown_and_a_reset_forgets_it(self, sink: Connector, orders: str) -> None:
        assert sink.reset() == RESET  # although it was never run
        assert sink.read() == []
        sink.alter(entry(place(orders, 1), {"kafka_offset": 9}), entry(place(orders), {"kafka_offset": "4"}))
        assert sink.alter(entry(place(orders), {"kafka_offset": 10})) == ALTERED
        assert sink.read() == [
            entry(place(orders), {"kafka_offset": 10}),
            entry(place(orders, 1), {"kafka_offset": 9}),
        ]
        assert sink.reset() == RESET
        assert sink.read() == []

    def test_the_group_is_connects(self, sink: Connector, orders: str, bootstrap: str) -> None:
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"connect-{sink.name}"})
        (found,) = consumer.committed([TopicPartition(orders, 0)], timeout=30)
        consumer.close()
        assert found.offset == 4

    def test_an_overridden_group_is_used(self, sink: Connector, orders: str, worker_props: dict[str, str]) -> None:
        group = {"consumer.override.group.id": unique("group")}
        Connector(sink.config.props | group, worker_props).alter(entry(place(orders), {"kafka_offset": 4}))
        assert sink.read() == []

    @pytest.mark.parametrize(("reset", "offset"), [("earliest", 0), ("latest", 10)])
    def test_null_means_where_a_run_without_offset_starts(
        self, sink: Connector, orders: str, worker_props: dict[str, str], reset: str, offset: int
    ) -> None:
        override = {"consumer.override.auto.offset.reset": reset}
        sink = Connector(sink.config.props | override, worker_props)
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        sink.alter(entry(place(orders), None))
        assert sink.read() == [entry(place(orders), {"kafka_offset": offset})]

    def test_all_that_no_run_could_start_from_is_an_error(self, sink: Connector, orders: str) -> None:
        with pytest.raises(ConfigError) as caught:
            sink.alter(
                entry(place(orders), {"kafka_offset": 11}),
                entry(place(orders, 1), {"kafka_offset": -1}),
                entry(place(orders, 2), {"kafka_offset": 0}),
                entry(place("no-such-topic"), None),
            )
        assert caught.value.errors["offsets"] == [
            f"{orders}-0: offset 11 is beyond the end 10",
            f"{orders}-1: offset -1 is before the begin 0; null starts at the begin",
            f"topic-partition {orders}-2 does not exist",
            "topic-partition no-such-topic-0 does not exist",
        ]

    @pytest.mark.parametrize("reset", [False, True])
    def test_a_group_in_use_is_left_alone(self, sink: Connector, orders: str, bootstrap: str, reset: bool) -> None:
        member = Consumer({"bootstrap.servers": bootstrap, "group.id": f"connect-{sink.name}"})
        member.subscribe([orders])
        while not member.assignment():
            member.poll(0.1)
        with pytest.raises(RetriableError, match=f"Failed to alter consumer group offsets for connector {sink.name}"):
            sink.reset() if reset else sink.alter(entry(place(orders), {"kafka_offset": 4}))
        member.close()

    def test_a_run_in_progress_commits_nothing_more(self, sink: Connector, orders: str) -> None:
        live = sink.live_producer(transactional_ids.driver_id(str(sink.worker.get("group.id")), sink.name))
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        live.produce(orders, b"late")
        with pytest.raises(FencedError):
            live.commit()
        live.close()

    def test_what_the_group_has_lost_is_shown(self, sink: Connector, orders: str, bootstrap: str) -> None:
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        GroupAdmin({"bootstrap.servers": bootstrap}).delete_group(f"connect-{sink.name}")
        assert sink.read() == [entry(place(orders), {"kafka_offset": 4})]

    @pytest.mark.parametrize(("patience_s", "shown"), [(60.0, 7), (0.5, 4)], ids=["ends soon", "stays open"])
    def test_a_transaction_is_waited_for_as_long_as_its_end_may_take(
        self, sink: Connector, orders: str, monkeypatch: pytest.MonkeyPatch, patience_s: float, shown: int
    ) -> None:
        monkeypatch.setattr(sink_offsets, "READ_PATIENCE_S", patience_s)
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        live, consumer = sink.live_producer(unique("id")), Consumer(sink.clients.consumer(f"connect-{sink.name}"))
        live.send_sink_offsets([TopicPartition(orders, 0, 7)], consumer.consumer_group_metadata())
        end = threading.Timer(1.0, live.commit)
        if shown == 7:
            end.start()
        assert sink.read() == [entry(place(orders), {"kafka_offset": shown})]
        end.join() if shown == 7 else live.abort()
        live.close()
        consumer.close()


class TestReadNamed:
    def test_a_source(self, source: Connector) -> None:
        source.write_offset(FILE, {"position": 7})
        assert connector_offsets.read_named(source.name, source.worker) == [entry(FILE, {"position": 7})]

    def test_a_sink(self, sink: Connector, orders: str) -> None:
        sink.alter(entry(place(orders), {"kafka_offset": 4}))
        assert connector_offsets.read_named(sink.name, sink.worker) == sink.read()

    def test_a_run_in_progress_commits_nothing_once_the_offsets_are_settled(self, sink: Connector, orders: str) -> None:
        live = sink.live_producer(transactional_ids.driver_id(str(sink.worker.get("group.id")), sink.name))
        sink.settle()
        live.produce(orders, b"late")
        with pytest.raises(FencedError):
            live.commit()
        live.close()
