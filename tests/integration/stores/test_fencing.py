"""Fencing of source connectors, against a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.producers import CommittingProducer, FlushingProducer, new_producer
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.fencing import SourceFence
from tests.support import unique

GROUP = "kconnect"


@pytest.fixture
def clients(bootstrap: str) -> ClientConfigs:
    return ClientConfigs({"bootstrap.servers": bootstrap, "producer.linger.ms": "1"}, name="test")


@pytest.fixture
def fence(clients: ClientConfigs) -> Callable[..., SourceFence]:
    """The fence of a connector: `fence("name")`."""

    def make(name: str, *, exactly_once: bool = True) -> SourceFence:
        return SourceFence(clients, GROUP, name, exactly_once=exactly_once)

    return make


def write(producer: CommittingProducer, topic: str) -> None:
    producer.begin()
    producer.produce(topic, b"a")
    producer.commit()


def test_an_older_driver_can_commit_nothing_any_more(
    fence: Callable[..., SourceFence], topic: Callable[..., str]
) -> None:
    name = unique("fenced")
    with fence(name).driver("first") as older, fence(name).driver("second"), pytest.raises(FencedError):
        write(older, topic())


def test_a_task_can_commit_nothing_any_more(
    fence: Callable[..., SourceFence], clients: ClientConfigs, topic: Callable[..., str]
) -> None:
    name = unique("fenced")
    task = new_producer(clients.producer(transactional_ids.task_id(GROUP, name, 1)), "task")
    try:
        fence(name).tasks(2)
        with pytest.raises(FencedError):
            write(task, topic())
    finally:
        task.close()


def test_tasks_are_fenced_once(fence: Callable[..., SourceFence]) -> None:
    found = fence(unique("fenced"))
    assert [found.tasks(2), found.tasks(1), found.tasks(3)] == [True, False, True]


def test_nobody_has_ids_without_exactly_once(fence: Callable[..., SourceFence]) -> None:
    found = fence(unique("fenced"), exactly_once=False)
    assert found.tasks(2) is False
    with found.driver("driver") as producer:
        assert isinstance(producer, FlushingProducer)
