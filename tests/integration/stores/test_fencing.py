"""Fencing of source connectors, against a real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.producers import CommittingProducer, FlushingProducer, new_producer
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.fencing import SourceFence
from airflow_kconnect.stores.offset_topic.records import PlanRecord, plan_key
from airflow_kconnect.stores.offset_topic.view import OffsetView
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


class TestTakeOver:
    @pytest.fixture
    def offsets(self, clients: ClientConfigs, topic: Callable[..., str]) -> CompactedLog:
        """An offset topic with one partition."""
        name = topic(prefix="offsets", config={"cleanup.policy": "compact"})
        return CompactedLog(KafkaAdmin(clients.admin()), clients.consumer(unique("offsets")), name)

    @pytest.fixture
    def take_over(self, offsets: CompactedLog) -> Callable[..., OffsetView]:
        """`take_over(fence, producer, name)`: what the new owner knows."""

        def go(found: SourceFence, producer: CommittingProducer, name: str, run: str = "run") -> OffsetView:
            view = OffsetView(name)
            found.take_over(producer, offsets, 1, view, run, 2)
            return view

        return go

    def test_a_task_can_commit_nothing_any_more(
        self,
        fence: Callable[..., SourceFence],
        clients: ClientConfigs,
        topic: Callable[..., str],
        take_over: Callable[..., OffsetView],
    ) -> None:
        name = unique("fenced")
        with _task(clients, name, 1) as task, fence(name).driver("second") as newer:
            take_over(fence(name), newer, name)
            with pytest.raises(FencedError):
                write(task, topic())

    def test_the_tasks_of_an_unfinished_plan_can_not_either(
        self,
        fence: Callable[..., SourceFence],
        clients: ClientConfigs,
        topic: Callable[..., str],
        offsets: CompactedLog,
        take_over: Callable[..., OffsetView],
    ) -> None:
        name = unique("fenced")
        with _task(clients, name, 5) as task, fence(name).driver("newer") as newer:
            with _task(clients, unique("another"), 0) as writer:
                writer.begin()
                writer.produce(offsets.topic, PlanRecord("plan", "older", 6).encode(), plan_key(name))
                writer.commit()
            assert take_over(fence(name), newer, name).tasks == 6
            with pytest.raises(FencedError):
                write(task, topic())

    def test_an_older_driver_that_comes_late_fences_no_one(
        self,
        fence: Callable[..., SourceFence],
        clients: ClientConfigs,
        topic: Callable[..., str],
        take_over: Callable[..., OffsetView],
    ) -> None:
        name = unique("fenced")
        with fence(name).driver("older") as older, fence(name).driver("newer") as newer:
            take_over(fence(name), newer, name)
            with _task(clients, name, 0) as task:
                with pytest.raises(FencedError):
                    take_over(fence(name), older, name)
                write(task, topic())

    def test_the_claim_is_in_the_topic_before_any_task_is_fenced(
        self, fence: Callable[..., SourceFence], take_over: Callable[..., OffsetView]
    ) -> None:
        name = unique("claimed")
        with fence(name).driver("driver") as producer:
            view = take_over(fence(name), producer, name, "run-7")
        assert view.claim is not None and view.claim.run_id == "run-7"

    def test_no_one_has_ids_without_exactly_once(
        self, fence: Callable[..., SourceFence], take_over: Callable[..., OffsetView]
    ) -> None:
        name = unique("unfenced")
        found = fence(name, exactly_once=False)
        with found.driver("driver") as producer:
            assert isinstance(producer, FlushingProducer)
            assert take_over(found, producer, name).claim is not None


@contextmanager
def _task(clients: ClientConfigs, name: str, number: int) -> Iterator[CommittingProducer]:
    producer = new_producer(clients.producer(transactional_ids.task_id(GROUP, name, number)), "task")
    try:
        yield producer
    finally:
        producer.close()
