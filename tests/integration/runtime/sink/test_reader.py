"""The reader of a sink's splits against a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.runtime.sink import reader as kafka_reader
from tests.support import unique
from tests.support.kafka import produce

_ABORTED = 1500


@pytest.fixture
def behind_aborted(topic: Callable[..., str], bootstrap: str) -> SinkSplit:
    """A partition with many records of a transaction that was aborted, and one good one after them."""
    name = topic()
    settings = {"transactional.id": unique("id"), "batch.num.messages": 1, "linger.ms": 0}
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    producer.init_transactions(30)
    producer.begin_transaction()
    for _ in range(_ABORTED):
        producer.produce(name, b"aborted")
    producer.flush()
    producer.abort_transaction(30)
    produce(bootstrap, name, [b"good"])
    return SinkSplit(name, 0, 0, _ABORTED + 2)


@pytest.fixture
def slow(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A reader that fetches one batch at a time and soon loses its patience."""
    monkeypatch.setattr(kafka_reader, "_PATIENCE_S", 1.0)
    config = ClientConfigs({"bootstrap.servers": bootstrap}, name="reader").consumer("readers")
    return config | {"fetch.message.max.bytes": 1, "fetch.min.bytes": 1}


def test_passing_aborted_records_is_progress(behind_aborted: SinkSplit, slow: dict[str, object]) -> None:
    batches = kafka_reader.read_messages(slow, behind_aborted)
    assert [message.value() for batch in batches for message in batch] == [b"good"]


def test_samples_may_lie_behind_aborted_records(behind_aborted: SinkSplit, slow: dict[str, object]) -> None:
    assert [message.value() for message in kafka_reader.read_samples(slow, [behind_aborted])] == [b"good"]


def test_a_partition_in_which_nothing_moves_is_given_up(slow: dict[str, object], topic: Callable[..., str]) -> None:
    name = topic()
    with pytest.raises(RetriableError, match=rf"reading {name}-0: nothing arrived for \d+ s before offset 5"):
        list(kafka_reader.read_messages(slow, SinkSplit(name, 0, 0, 5)))
