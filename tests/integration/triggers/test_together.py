"""Many triggers of one Kafka: they look together, and what is wrong with one concerns no other."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from airflow_kconnect.kafka import coordinators, shared
from airflow_kconnect.stores.positions.condition import Condition, Finding
from airflow_kconnect.stores.positions.positions import ConnectorPositions
from airflow_kconnect.triggers.positions import ConnectorPositionTrigger
from tests.support import unique
from tests.support.kafka import produce

MakeTopic = Callable[..., str]


@pytest.fixture(autouse=True)
def kafka_connection(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kafka_default` is the broker of this test run."""
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(connection))


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many requests the admin clients of this test have sent, by client, as librdkafka counts them."""
    counted: Counter[str] = Counter()

    def note(statistics: str) -> None:
        found = json.loads(statistics)
        counted[found["name"]] = sum(broker["tx"] for broker in found["brokers"].values())

    def counting(config: dict[str, Any]) -> AdminClient:
        return AdminClient({**config, "statistics.interval.ms": 100, "stats_cb": note})

    monkeypatch.setattr(coordinators, "admin_client", counting)
    monkeypatch.setattr(shared, "_clusters", type(shared._clusters)())
    return counted


class Counted:
    """Counts the looks of a condition."""

    def __init__(self, condition: Condition, looks: Counter[str]) -> None:
        self._condition, self._looks = condition, looks

    def look(self, connector: ConnectorPositions) -> Finding:
        self._looks[connector.name] += 1
        return self._condition.look(connector)


def trigger(name: str, topic: str, **condition: Any) -> ConnectorPositionTrigger:
    return ConnectorPositionTrigger(
        connector={"name": name, "topics": topic},
        worker_config={},
        kafka_conn_id="kafka_default",
        condition={"kind": "lag", "min_records": 1, **condition},
        poke_interval=0.2,
    )


async def event_of(trigger: ConnectorPositionTrigger) -> dict[str, Any]:
    async for event in trigger.run():
        payload: dict[str, Any] = event.payload
        return payload
    raise AssertionError("the trigger ended without an event")


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(90):
        while not met():
            await asyncio.sleep(0.02)


def test_fifty_look_by_a_few_requests_and_connections(bootstrap: str, topic: MakeTopic, requests: Counter[str]) -> None:
    topics = [topic() for _ in range(3)]
    triggers = {unique("sink"): topics[n % 3] for n in range(50)}
    port, process, looks = int(bootstrap.rpartition(":")[2]), psutil.Process(), Counter[str]()

    def connections() -> int:
        return sum(1 for each in process.net_connections("tcp") if each.raddr and each.raddr.port == port)

    def counted(name: str) -> ConnectorPositionTrigger:
        found = trigger(name, triggers[name])
        found._condition = Counted(found._condition, looks)  # type: ignore[assignment]
        return found

    async def scenario() -> tuple[list[dict[str, Any]], int]:
        before = connections()
        waiting = {name: asyncio.create_task(event_of(counted(name))) for name in triggers}
        await until(lambda: min(looks[name] for name in triggers) >= 10)
        more = connections() - before
        await asyncio.to_thread(produce, bootstrap, topics[0], ["a"])
        fed = [waiting.pop(name) for name, place in triggers.items() if place == topics[0]]
        events = await asyncio.wait_for(asyncio.gather(*fed), 90)
        assert not any(task.done() for task in waiting.values())
        for task in waiting.values():
            task.cancel()
        return events, more

    events, more = asyncio.run(scenario())
    assert {event["status"] for event in events} == {"met"}
    assert more <= 4
    # librdkafka sends two for each group. Alone, a look would send eight.
    assert requests.total() < 3 * looks.total()


def test_what_is_wrong_with_one_concerns_no_other(bootstrap: str, topic: MakeTopic) -> None:
    there = topic()

    async def scenario() -> list[dict[str, Any]]:
        wrong = trigger(unique("sink"), "nowhere", min_records=None, max_records=0)
        right = asyncio.create_task(event_of(trigger(unique("sink"), there)))
        failed = await asyncio.wait_for(event_of(wrong), 90)
        assert not right.done()
        await asyncio.to_thread(produce, bootstrap, there, ["a"])
        return [failed, await asyncio.wait_for(right, 90)]

    failed, met = asyncio.run(scenario())
    assert (failed["status"], failed["message"].strip().endswith("topic nowhere does not exist")) == ("error", True)
    assert met["status"] == "met"
