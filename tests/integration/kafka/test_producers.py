"""Producers that commit, against a real broker: fencing, aborts, group offsets, partitions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.kafka.producers import (
    CommittingProducer,
    TransactionalProducer,
    fence,
    new_producer,
)
from airflow_kconnect.runtime.source.producing import produce_full
from tests.support import unique
from tests.support.kafka import read_all, read_values

MakeTopic = Callable[..., str]


@pytest.fixture
def configs(bootstrap: str) -> ClientConfigs:
    return ClientConfigs({"bootstrap.servers": bootstrap, "producer.linger.ms": "1"}, name="test")


@pytest.fixture
def make(configs: ClientConfigs) -> Iterator[Callable[..., CommittingProducer]]:
    """`make(transactional_id)` opens a producer; all are closed after the test.

    `make(transactional_id, closes=True)`: the test closes it.
    """
    opened: list[CommittingProducer] = []

    def new(transactional_id: str | None, closes: bool = False) -> CommittingProducer:
        producer = new_producer(configs.producer(transactional_id), "test")
        if not closes:
            opened.append(producer)
        return producer

    yield new
    for producer in opened:
        producer.close()


Make = Callable[..., Any]


class TestTransactions:
    def test_records_are_visible_once_they_are_committed(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(unique("id")), topic()
        producer.begin()
        producer.produce(name, b"a")
        producer.flush()
        before = read_values(bootstrap, name)
        producer.commit()
        assert (before, read_values(bootstrap, name)) == ([], [b"a"])

    def test_aborted_records_are_written_and_invisible(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(unique("id")), topic()
        producer.begin()
        producer.produce(name, b"a")
        producer.flush()
        producer.abort()
        assert [record.value for record in read_all(bootstrap, name, committed=False)] == [b"a"]
        assert read_values(bootstrap, name) == []

    def test_a_transaction_after_an_abort(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(unique("id")), topic()
        for value, end in ((b"a", producer.abort), (b"b", producer.commit)):
            producer.begin()
            producer.produce(name, value)
            end()
        assert read_values(bootstrap, name) == [b"b"]

    def test_an_empty_transaction_commits(self, make: Make) -> None:
        producer = make(unique("id"))
        producer.begin()
        producer.commit()

    def test_two_topics_are_one_transaction(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, names = make(unique("id")), [topic(), topic()]
        producer.begin()
        for name in names:
            producer.produce(name, b"a")
        producer.flush()
        before = [read_values(bootstrap, name) for name in names]
        producer.commit()
        after = [read_values(bootstrap, name) for name in names]
        assert (before, after) == ([[], []], [[b"a"], [b"a"]])

    def test_closing_does_not_commit(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(unique("id"), closes=True), topic()
        producer.begin()
        producer.produce(name, b"a")
        producer.flush()
        producer.close()
        assert read_values(bootstrap, name) == []


class TestFencing:
    def open_old(self, make: Make, name: str, transactional_id: str, *, closes: bool = False) -> Any:
        """A producer with an open transaction of one record."""
        old = make(transactional_id, closes)
        old.begin()
        old.produce(name, b"old")
        old.flush()
        return old

    def test_an_older_producer_cannot_commit(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        transactional_id, name = unique("id"), topic()
        old = self.open_old(make, name, transactional_id)
        make(transactional_id)
        with pytest.raises(FencedError, match="fenced by a newer run"):
            old.commit()
        assert read_values(bootstrap, name) == []

    def test_an_older_producer_cannot_begin_again(self, make: Make, topic: MakeTopic) -> None:
        transactional_id, name = unique("id"), topic()
        old = make(transactional_id)
        make(transactional_id)
        with pytest.raises(FencedError):
            old.begin()
            old.produce(name, b"old")
            old.commit()

    def test_a_fenced_producer_can_abort_and_close(self, make: Make, topic: MakeTopic) -> None:
        transactional_id = unique("id")
        old = self.open_old(make, topic(), transactional_id, closes=True)
        make(transactional_id)
        old.abort()
        old.close()

    def test_the_newer_producer_commits(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        transactional_id, name = unique("id"), topic()
        self.open_old(make, name, transactional_id)
        new = make(transactional_id)
        new.begin()
        new.produce(name, b"new")
        new.commit()
        assert read_values(bootstrap, name) == [b"new"]

    def test_another_id_is_not_fenced(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        name = topic()
        other = self.open_old(make, name, unique("other"))
        make(unique("id"))
        other.commit()
        assert read_values(bootstrap, name) == [b"old"]

    def test_fence_needs_no_producer_that_stays(
        self, make: Make, configs: ClientConfigs, topic: MakeTopic, bootstrap: str
    ) -> None:
        transactional_id, name = unique("id"), topic()
        old = self.open_old(make, name, transactional_id)
        fence(configs.producer(transactional_id), "fencing")
        with pytest.raises(FencedError):
            old.commit()


class TestGroupOffsets:
    @pytest.fixture
    def consumer(self, configs: ClientConfigs) -> Iterator[Consumer]:
        consumer = Consumer(configs.consumer(unique("group")))
        yield consumer
        consumer.close()

    def committed(self, consumer: Consumer, place: TopicPartition) -> int:
        (found,) = consumer.committed([place], timeout=30)
        return int(found.offset)

    def send(self, producer: Any, consumer: Consumer, name: str) -> TopicPartition:
        producer.begin()
        producer.send_sink_offsets([TopicPartition(name, 0, 7)], consumer.consumer_group_metadata())
        return TopicPartition(name, 0)

    def test_they_are_committed_with_the_transaction(self, make: Make, topic: MakeTopic, consumer: Consumer) -> None:
        producer = make(unique("id"))
        place = self.send(producer, consumer, topic())
        producer.commit()
        assert self.committed(consumer, place) == 7

    def test_an_abort_drops_them(self, make: Make, topic: MakeTopic, consumer: Consumer) -> None:
        producer = make(unique("id"))
        place = self.send(producer, consumer, topic())
        producer.abort()
        assert self.committed(consumer, place) < 0

    def test_all_partitions_or_none(self, make: Make, topic: MakeTopic, consumer: Consumer) -> None:
        producer, name = make(unique("id")), topic(partitions=3)
        producer.begin()
        places = [TopicPartition(name, p, 10 + p) for p in range(3)]
        producer.send_sink_offsets(places, consumer.consumer_group_metadata())
        producer.commit()
        assert [tp.offset for tp in consumer.committed(places, timeout=30)] == [10, 11, 12]

    def test_a_fenced_producer_commits_none(self, make: Make, topic: MakeTopic, consumer: Consumer) -> None:
        transactional_id, name = unique("id"), topic()
        old = make(transactional_id)
        make(transactional_id)
        with pytest.raises(FencedError):
            self.send(old, consumer, name)
            old.commit()
        assert self.committed(consumer, TopicPartition(name, 0)) < 0


class TestPartitions:
    KEYS = [b"", b"a", b"key", b"kafka", '["fs",{"filename":"/data/é"}]'.encode(), bytes(range(256))]

    @pytest.mark.parametrize("transactional", [True, False], ids=["transactional", "flushing"])
    def test_a_key_lands_where_javas_murmur2_says(
        self, make: Make, topic: MakeTopic, bootstrap: str, transactional: bool
    ) -> None:
        producer, name = make(unique("id") if transactional else None), topic(partitions=7)
        producer.begin()
        for key in self.KEYS:
            producer.produce(name, b"v", key)
        producer.commit()
        found = {record.key: record.partition for record in read_all(bootstrap, name)}
        assert found == {key: partition_of(key, 7) for key in self.KEYS}

    def test_an_explicit_partition_counts_more_than_the_key(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(None), topic(partitions=7)
        wanted = (partition_of(b"a", 7) + 1) % 7
        producer.produce(name, b"v", b"a", wanted)
        producer.commit()
        assert [record.partition for record in read_all(bootstrap, name)] == [wanted]

    def test_records_without_a_key_are_spread(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        producer, name = make(None), topic(partitions=3)
        for _ in range(300):
            producer.produce(name, b"v")
            producer.flush()
        assert {record.partition for record in read_all(bootstrap, name)} == {0, 1, 2}


class TestFullRecords:
    """Rows with topics, partitions, timestamps and headers of their own arrive so."""

    def written(self, make: Make, topic: MakeTopic, bootstrap: str, **columns: pa.Array) -> Any:
        producer, name = make(None), topic(partitions=3)
        rows = pa.RecordBatch.from_pydict({"value": pa.array([b"v"]), **columns})
        produce_full(producer, name, [b"v"], None, rows)
        producer.commit()
        (record,) = read_all(bootstrap, name)
        return record

    def test_partition(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        assert self.written(make, topic, bootstrap, partition=pa.array([2], pa.int32())).partition == 2

    def test_timestamp(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        moment = 1_700_000_000_123
        assert self.written(make, topic, bootstrap, timestamp=pa.array([moment])).timestamp == moment

    def test_headers(self, make: Make, topic: MakeTopic, bootstrap: str) -> None:
        headers = pa.array(
            [[{"key": "a", "value": b"\xff"}, {"key": "a", "value": None}]],
            pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
        )
        assert self.written(make, topic, bootstrap, headers=headers).headers == [("a", b"\xff"), ("a", None)]


def test_a_commit_of_a_flushing_producer_waits_for_the_records(make: Make, topic: MakeTopic, bootstrap: str) -> None:
    producer, name = make(None), topic()
    producer.begin()
    producer.produce(name, b"a")
    producer.commit()
    assert read_values(bootstrap, name) == [b"a"]


class TestErrorsInMidStream:
    """They arrive while records are produced, long before the commit; the client then refuses everything."""

    def stream(self, producer: CommittingProducer, name: str, seconds: float = 60.0) -> None:
        """Produce until there is an error, as a split's writer does."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                producer.produce(name, b"x")
            except KafkaException as error:
                raise producer.failure(error, f"writing to {name}") from error
            producer.poll(0)
            time.sleep(0.02)

    def test_fencing(self, make: Make, topic: MakeTopic) -> None:
        transactional_id, name = unique("id"), topic()
        old = make(transactional_id)
        old.begin()
        old.produce(name, b"old")
        old.flush()
        make(transactional_id)
        with pytest.raises(FencedError):
            self.stream(old, name)

    def test_a_record_that_the_broker_refuses(self, make: Make, topic: MakeTopic) -> None:
        producer = make(unique("id"))
        producer.begin()
        producer.produce(topic(config={"max.message.bytes": "100"}), os.urandom(10_000))
        with pytest.raises(DataError, match=r"`max\.message\.bytes`"):
            self.stream(producer, topic())

    def test_the_brokers_timeout_is_not_called_fencing(self, configs: ClientConfigs, topic: MakeTopic) -> None:
        name, config = topic(), {**configs.producer(unique("id")), "transaction.timeout.ms": 3000}
        producer = TransactionalProducer(config, "test")
        producer.begin()
        producer.produce(name, b"x")
        producer.flush()
        with pytest.raises(RetriableError, match=r"longer than its `transaction\.timeout\.ms` of 3000 ms"):
            self.stream(producer, name)
        producer.close()

    def test_a_broken_client_raises_in_flush(self, make: Make, topic: MakeTopic) -> None:
        transactional_id, name = unique("id"), topic()
        old = make(transactional_id)
        old.begin()
        old.produce(name, b"old")
        old.flush()
        make(transactional_id)
        old.produce(name, b"old")
        with pytest.raises(FencedError):
            old.flush()


class TestErrors:
    @pytest.mark.parametrize("transactional", [True, False], ids=["transactional", "flushing"])
    def test_a_record_that_the_broker_refuses_fails_the_commit_of_what_the_producer_is_for(
        self, configs: ClientConfigs, topic: MakeTopic, transactional: bool
    ) -> None:
        config = configs.producer(unique("id") if transactional else None)
        producer = new_producer(config, "connector fs split 3")
        producer.begin()
        producer.produce(topic(config={"max.message.bytes": "100"}), b"x" * 10_000)
        with pytest.raises(DataError, match=r"^connector fs split 3: writing to topic-.*`max\.message\.bytes`"):
            producer.commit()
        producer.close()

    def test_a_configuration_that_librdkafka_refuses_is_a_config_error(self, configs: ClientConfigs) -> None:
        with pytest.raises(ConfigError, match="refuses its configuration"):
            new_producer({**configs.producer(None), "linger.ms": "soon"}, "test")

    def test_a_transaction_timeout_above_the_brokers_is_a_config_error(self, bootstrap: str) -> None:
        worker = {"bootstrap.servers": bootstrap, "producer.transaction.timeout.ms": "3600000"}
        with pytest.raises(ConfigError, match=r"(?i)transaction timeout"):
            new_producer(ClientConfigs(worker).producer(unique("id")), "test")

    def test_an_unavailable_broker_is_retriable(self) -> None:
        config = ClientConfigs({"bootstrap.servers": "127.0.0.1:1"}).producer(unique("id"))
        with pytest.raises(RetriableError):
            TransactionalProducer(config, "test", init_timeout_s=1.0)
