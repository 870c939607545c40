"""Positions of a sink on a command line."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.positions_text import positions_of, positions_request, positions_texts, resume_command

POSITIONS = {
    TopicPartition("users", 0): 7,
    TopicPartition("orders.eu_1-a", 1): 30,
    TopicPartition("orders.eu_1-a", 0): 20,
}
TEXTS = ["orders.eu_1-a:0=20,1=30", "users:0=7"]


def test_there_is_a_text_for_each_topic() -> None:
    assert positions_texts(POSITIONS) == TEXTS


def test_they_are_read_as_they_were_written() -> None:
    assert positions_of(TEXTS) == POSITIONS


@pytest.mark.parametrize(
    "text", ["orders", "orders:0", "orders:0=", "orders:0=1,", "orders:a=1", "orders:0=-1", "o p:0=1"]
)
def test_other_texts_are_errors(text: str) -> None:
    with pytest.raises(ConfigError, match="is not of the form TOPIC:PARTITION=OFFSET"):
        positions_of([text])


def test_a_partition_has_one_position() -> None:
    with pytest.raises(ConfigError, match="orders-0 is named twice"):
        positions_of(["orders:0=1", "orders:1=1,0=2"])


def test_a_request_is_that_of_the_rest_api() -> None:
    assert positions_request({TopicPartition("users", 0): 7}) == {
        "offsets": [{"partition": {"kafka_topic": "users", "kafka_partition": 0}, "offset": {"kafka_offset": 7}}]
    }


def test_a_command_may_be_typed_as_it_is() -> None:
    assert resume_command("my orders", {TopicPartition("users", 0): 7}) == (
        "kconnect stop 'my orders' && kconnect offsets alter 'my orders' --at users:0=7 && kconnect resume 'my orders'"
    )


def test_without_positions_it_begins_at_the_beginning() -> None:
    assert resume_command("orders", {}) == (
        "kconnect stop orders && kconnect offsets reset orders && kconnect resume orders"
    )
