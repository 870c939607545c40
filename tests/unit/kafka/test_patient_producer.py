"""Records that the client does not take at once, without a broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.producers import FlushingProducer


@pytest.fixture
def producer() -> Iterator[FlushingProducer]:
    """Its queue has room for one record, which is given up after 200 ms: there is no broker."""
    config = {
        "bootstrap.servers": "127.0.0.1:1",
        "queue.buffering.max.messages": 1,
        "message.timeout.ms": 200,
        "message.max.bytes": 2_000,
        "log_level": 0,
    }
    producer = FlushingProducer(config, "tests")
    yield producer
    producer.close()


def test_a_full_queue_is_waited_for(producer: FlushingProducer) -> None:
    producer.produce("t", b"1")
    with pytest.raises(BufferError):
        producer.produce("t", b"2")
    producer.produce_patiently("t", b"2")


def test_a_record_that_is_too_large_names_topic_and_setting(producer: FlushingProducer) -> None:
    with pytest.raises(DataError, match=r"tests: writing to t: .*producer\.override\.max\.request\.size"):
        producer.produce_patiently("t", b"x" * 3_000)
