"""Clients whose broker is killed and started again: a transaction, and a follower of a topic."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka import producers
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log_follower import LogFollower
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.integration.kafka.test_log_follower import Table, compacted, values
from tests.support.kafka import create_topic, eventually, produce


class Transactions:
    """Of sinks that commit offsets."""

    def __init__(self, bootstrap: str) -> None:
        self.config = {"bootstrap.servers": bootstrap, "transactional.id": "restarted"}
        self._partition = create_topic(bootstrap, "input")
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "group"})

    def commit(self, producer: TransactionalProducer, offset: int) -> None:
        producer.begin()
        places = [TopicPartition(self._partition, 0, offset)]
        producer.send_sink_offsets(places, self._consumer.consumer_group_metadata())
        producer.commit()

    def committed(self) -> list[int]:
        with closing(self._consumer):
            return [found.offset for found in self._consumer.committed([TopicPartition(self._partition, 0)])]


@pytest.mark.timeout(180)
def test_calls_end_while_a_broker_is_gone_and_clients_continue_once_it_is_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = EmbeddedBroker(tmp_path / "broker")
    broker.start()
    topic, clients = compacted(broker.bootstrap), ClientConfigs({"bootstrap.servers": broker.bootstrap})
    produce(broker.bootstrap, topic, ["1"], key="a")
    patient = LogFollower(clients, topic, Table, "followers", 60.0)
    try:
        with closing(LogFollower(clients, topic, Table, "followers", 3.0)) as follower:
            follower.read_to_end()
            patient.read_to_end()
            transactions = Transactions(broker.bootstrap)
            first = TransactionalProducer(transactions.config, "a sink")
            transactions.commit(first, 1)

            since = time.time()
            broker.kill()
            with monkeypatch.context() as patch, pytest.raises(RetriableError, match="a sink: "):
                patch.setattr(producers, "_CALL_S", 2.0)
                patch.setattr(producers, "_GRACE_S", 1.0)
                transactions.commit(first, 2)
            first.close()
            assert eventually(lambda: follower.health.reading, wanted=False) is False
            assert follower.look(values) == {b"a": b"1"}
            assert since <= follower.health.since <= time.time()
            with pytest.raises(RetriableError):
                follower.read_to_end(2.0)
            began = time.monotonic()
            patient.close()
            assert time.monotonic() - began < 30

            broker.start()
            second = TransactionalProducer(transactions.config, "the next run")
            transactions.commit(second, 3)
            second.close()
            assert transactions.committed() == [3]
            assert eventually(lambda: follower.health.reading, wanted=True)
            produce(broker.bootstrap, topic, ["2"], key="a")
            follower.read_to_end(60.0)
            assert follower.look(values) == {b"a": b"2"}
    finally:
        broker.stop()
