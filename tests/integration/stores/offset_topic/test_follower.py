"""What a task learns of its run from a real offset topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from airflow_kconnect.connect.connector.source import Split
from airflow_kconnect.connect.errors import FencedError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.producers import FlushingProducer, TransactionalProducer
from airflow_kconnect.stores.offset_topic.follower import PlanFollower, PlanPointer
from airflow_kconnect.stores.offset_topic.records import (
    Claim,
    Marker,
    PlanRecord,
    claim_key,
    marker_key,
    offset_key,
    offset_value,
    plan_key,
)
from airflow_kconnect.stores.offset_topic.view import OffsetView, read_view
from tests.support import unique
from tests.support.kafka import add_partitions

PARTITIONS = 5
PLAN = PlanRecord("plan-1", "run-1", 2, (Split({"filename": "/a"}, 0, 10), Split({"filename": "/a"}, 10, 20)))
CLAIM, NEXT_CLAIM = Claim("claim-1", "run-1"), Claim("claim-2", "run-2")
HALF, DONE = Marker("plan-1", 5, False, 2), Marker("plan-1", 10, True, 4)


class OffsetTopic:
    """An offset topic, as the driver and as other runs of the connector see it."""

    def __init__(self, bootstrap: str, name: str, connector: str) -> None:
        clients = ClientConfigs({"bootstrap.servers": bootstrap, "producer.linger.ms": "1"}, name=connector)
        self.name, self.connector = name, connector
        self._clients = clients
        self._admin = KafkaAdmin(clients.admin())
        self._consumer = clients.consumer(unique("offsets"))
        self._producer = FlushingProducer(clients.producer(None), "test")

    def write(self, key: bytes, value: bytes | None) -> None:
        self._producer.produce(self.name, value, key)
        self._producer.flush()

    def write_claim(self, claim: Claim | None, connector: str | None = None) -> None:
        self.write(claim_key(connector or self.connector), claim.encode() if claim else None)

    def write_marker(self, split: int, marker: Marker | None) -> None:
        self.write(marker_key(self.connector, split), marker.encode() if marker else None)

    def transaction(self) -> TransactionalProducer:
        producer = TransactionalProducer(self._clients.producer(unique("id")), "test")
        producer.begin()
        return producer

    def read(self) -> tuple[OffsetView, CompactedLog]:
        log = CompactedLog(self._admin, self._consumer, self.name)
        return read_view(log, self.connector, PARTITIONS), log

    def follower(self, split: int = 0, plan: PlanRecord = PLAN) -> PlanFollower:
        """A task's follower, as a driver makes it that has read the topic just now."""
        view, log = self.read()
        pointer = PlanPointer(self.connector, self.name, PARTITIONS, CLAIM, plan, log.positions, view.markers, 20.0)
        return PlanFollower(pointer, split, self._admin, self._consumer)

    def close(self) -> None:
        self._producer.close()


@pytest.fixture
def offsets(bootstrap: str, topic: Callable[..., str]) -> Iterator[OffsetTopic]:
    name = topic(partitions=PARTITIONS, prefix="offsets", config={"cleanup.policy": "compact"})
    made = OffsetTopic(bootstrap, name, unique("fs"))
    made.write_claim(CLAIM)
    made.write(plan_key(made.connector), PLAN.encode())
    yield made
    made.close()


class TestCheckCurrent:
    def test_the_run_that_wrote_the_claim_is_current(self, offsets: OffsetTopic) -> None:
        offsets.follower().check_current()

    def test_it_stays_so_until_something_happens(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        for _ in range(3):
            follower.check_current()

    def test_another_run_has_taken_over(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        offsets.write_claim(NEXT_CLAIM)
        with pytest.raises(FencedError, match=f"connector {offsets.connector}: run run-1 was taken over by run run-2"):
            follower.check_current()

    def test_another_attempt_with_the_same_run_id_has_taken_over(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        offsets.write_claim(replace(NEXT_CLAIM, run_id="run-1"))
        with pytest.raises(FencedError):
            follower.check_current()

    def test_the_plan_was_finished(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        offsets.write_claim(None)
        with pytest.raises(FencedError, match="run run-1 was finished; it commits nothing more"):
            follower.check_current()

    def test_a_take_over_between_two_checks_is_seen(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        follower.check_current()
        offsets.write_claim(NEXT_CLAIM)
        with pytest.raises(FencedError):
            follower.check_current()

    def test_more_partitions_of_the_topic_end_the_run(self, offsets: OffsetTopic, bootstrap: str) -> None:
        follower = offsets.follower()
        add_partitions(bootstrap, offsets.name, PARTITIONS + 1)
        with pytest.raises(RetriableError, match="had 5 partitions when run run-1 began, and has 6 now"):
            follower.check_current()

    def test_a_take_over_that_was_aborted_does_not_count(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        producer = offsets.transaction()
        producer.produce(offsets.name, NEXT_CLAIM.encode(), claim_key(offsets.connector))
        producer.flush()
        producer.abort()
        producer.close()
        follower.check_current()

    def test_another_connectors_claim_does_not_count(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        offsets.write_claim(NEXT_CLAIM, connector=unique("other"))
        follower.check_current()


class TestMarker:
    def test_without_one_the_split_has_not_begun(self, offsets: OffsetTopic) -> None:
        assert offsets.follower().marker() is None

    def test_one_that_the_driver_has_seen(self, offsets: OffsetTopic) -> None:
        offsets.write_marker(0, HALF)
        assert offsets.follower().marker() == HALF

    @pytest.mark.parametrize("split", range(4))
    def test_one_that_came_after_the_drivers_look(self, offsets: OffsetTopic, split: int) -> None:
        follower = offsets.follower(split)
        offsets.write_marker(split, DONE)
        follower.check_current()
        assert follower.marker() == DONE

    def test_a_newer_one_replaces_the_one_that_the_driver_has_seen(self, offsets: OffsetTopic) -> None:
        offsets.write_marker(0, HALF)
        follower = offsets.follower()
        offsets.write_marker(0, DONE)
        follower.check_current()
        assert follower.marker() == DONE

    def test_another_splits_does_not_count(self, offsets: OffsetTopic) -> None:
        offsets.write_marker(1, DONE)
        assert offsets.follower(split=0).marker() is None

    def test_one_of_another_plan_does_not_count(self, offsets: OffsetTopic) -> None:
        offsets.write_marker(0, replace(DONE, plan_id="plan-0"))
        assert offsets.follower().marker() is None

    def test_one_that_was_not_committed_does_not_count(self, offsets: OffsetTopic) -> None:
        follower = offsets.follower()
        producer = offsets.transaction()
        producer.produce(offsets.name, DONE.encode(), marker_key(offsets.connector, 0))
        producer.flush()
        producer.abort()
        producer.close()
        follower.check_current()
        assert follower.marker() is None


class TestReadView:
    def test_it_sees_offsets_plan_and_markers(self, offsets: OffsetTopic) -> None:
        partition, offset = {"filename": "/a"}, {"position": 10}
        offsets.write(offset_key(offsets.connector, partition), offset_value(offset))
        offsets.write_marker(0, DONE)
        view, _ = offsets.read()
        assert (list(view.committed()), view.plan, view.markers) == ([(partition, offset)], PLAN, {0: DONE})

    def test_it_sees_the_end_of_a_plan(self, offsets: OffsetTopic) -> None:
        offsets.write_marker(0, DONE)
        offsets.write_marker(0, None)
        offsets.write(plan_key(offsets.connector), None)
        view, _ = offsets.read()
        assert (view.plan, view.markers) == (None, {})
