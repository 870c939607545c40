"""A transaction whose broker is killed and started again in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka import producers
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.kafka import create_topic


@pytest.fixture
def broker(tmp_path: Path) -> EmbeddedBroker:
    """A broker of the test's own."""
    found = EmbeddedBroker(tmp_path / "broker")
    found.start()
    return found


def test_a_call_that_the_client_does_not_answer_ends_and_the_next_producer_commits(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"bootstrap.servers": broker.bootstrap, "transactional.id": "restarted"}
    partition = create_topic(broker.bootstrap, "input")
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "group"})

    def commit(producer: TransactionalProducer, offset: int) -> None:
        producer.begin()
        producer.send_sink_offsets([TopicPartition(partition, 0, offset)], consumer.consumer_group_metadata())
        producer.commit()

    try:
        first = TransactionalProducer(config, "a sink")
        commit(first, 1)
        broker.kill()
        with monkeypatch.context() as patch, pytest.raises(RetriableError, match="a sink: "):
            patch.setattr(producers, "_CALL_S", 2.0)
            patch.setattr(producers, "_GRACE_S", 1.0)
            commit(first, 2)
        first.close()
        broker.start()
        second = TransactionalProducer(config, "the next run")
        commit(second, 3)
        second.close()
        assert [found.offset for found in consumer.committed([TopicPartition(partition, 0)])] == [3]
    finally:
        consumer.close()
        broker.stop()
