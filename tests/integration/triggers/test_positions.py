"""Triggers in an event loop with a real broker: they fire, they share, and they block no one."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import psutil
import pytest

from airflow_kconnect.kafka import shared
from airflow_kconnect.triggers.lag import ConnectorLagTrigger
from airflow_kconnect.triggers.positions import ConnectorPositionTrigger
from tests.support import unique
from tests.support.kafka import produce
from tests.support.positions import commit

MakeTopic = Callable[..., str]

_AT_ONCE = {"linger.ms": "5000"}  # a look between two records would find only the first


@pytest.fixture(autouse=True)
def kafka_connection(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kafka_default` is the broker of this test run."""
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(connection))


@pytest.fixture
def mute_broker() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield f"127.0.0.1:{sock.getsockname()[1]}"


def _trigger(topic: str, **parameters: Any) -> ConnectorPositionTrigger:
    defaults: dict[str, Any] = {
        "connector": {"name": unique("sink"), "topics": topic},
        "worker_config": {},
        "kafka_conn_id": "kafka_default",
        "condition": {"kind": "lag", "min_records": 1},
        "poke_interval": 0.2,
    }
    return ConnectorPositionTrigger(**{**defaults, **parameters})


async def _first(trigger: ConnectorPositionTrigger | ConnectorLagTrigger) -> dict[str, Any]:
    async for event in trigger.run():
        payload: dict[str, Any] = event.payload
        return payload
    raise AssertionError("the trigger ended without an event")


async def _ticking(work: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
    """The result, and the longest time (s) for which a task that only wants to tick had to wait."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    ticker = asyncio.create_task(tick())
    try:
        return await work, longest
    finally:
        ticker.cancel()


class TestPositionTrigger:
    def test_fires_when_the_records_are_there(self, bootstrap: str, topic: MakeTopic) -> None:
        name = topic()

        async def scenario() -> dict[str, Any]:
            waiting = asyncio.create_task(_first(_trigger(name)))
            await asyncio.sleep(0.5)
            assert not waiting.done()
            await asyncio.to_thread(produce, bootstrap, name, ["a", "b"], settings=_AT_ONCE)
            return await asyncio.wait_for(waiting, 60)

        event = asyncio.run(scenario())
        assert (event["status"], event["position"]["topics"]) == ("met", {name: 2})

    def test_a_wrong_configuration_is_an_error_event(self, topic: MakeTopic) -> None:
        event = asyncio.run(_first(_trigger(topic(), condition={"kind": "lag", "min_records": 1, "topic": "other"})))

        assert (event["status"], event["exit_code"]) == ("error", 1)
        assert "other is not among the `topics`" in event["message"]

    def test_a_missing_connection_is_an_error_event(self, topic: MakeTopic) -> None:
        event = asyncio.run(_first(_trigger(topic(), kafka_conn_id="nowhere")))

        assert (event["status"], event["exit_code"]) == ("error", 1)

    def test_a_broker_that_never_answers_blocks_no_one_and_all_are_told(
        self, mute_broker: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared, "TIMEOUT_S", 6.0)
        worker = {"bootstrap.servers": mute_broker}
        triggers = [_trigger("orders", kafka_conn_id=None, worker_config=worker) for _ in range(50)]

        async def scenario() -> tuple[list[dict[str, Any]], float]:
            events: list[dict[str, Any]]
            events, longest = await _ticking(asyncio.gather(*map(_first, triggers)))  # type: ignore[arg-type]
            return events, longest

        started = time.monotonic()
        events, longest = asyncio.run(scenario())
        assert {event["exit_code"] for event in events} == {3}
        assert longest < 5, f"the event loop stood still for {longest:.2f} s"
        assert time.monotonic() - started < 60

    def test_a_cancelled_one_ends_at_once(self, mute_broker: str) -> None:
        worker = {"bootstrap.servers": mute_broker}

        async def scenario() -> float:
            waiting = asyncio.create_task(_first(_trigger("orders", kafka_conn_id=None, worker_config=worker)))
            await asyncio.sleep(0.3)
            started = time.monotonic()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            return time.monotonic() - started

        shared_timeout, shared.TIMEOUT_S = shared.TIMEOUT_S, 6.0
        try:
            assert asyncio.run(scenario()) < 5
        finally:
            shared.TIMEOUT_S = shared_timeout

    def test_two_hundred_share_clients_and_threads(self, bootstrap: str, topic: MakeTopic) -> None:
        name, process = topic(), psutil.Process()
        asyncio.run(_first(_trigger(name, condition={"kind": "lag", "max_records": 0})))  # all is loaded and connected
        threads, memory = process.num_threads(), process.memory_info().rss

        async def scenario() -> tuple[list[dict[str, Any]], int, int]:
            waiting = [asyncio.create_task(_first(_trigger(name))) for _ in range(200)]
            await asyncio.sleep(2)
            more_threads, more_memory = process.num_threads() - threads, process.memory_info().rss - memory
            await asyncio.to_thread(produce, bootstrap, name, ["a"])
            return await asyncio.wait_for(asyncio.gather(*waiting), 60), more_threads, more_memory

        events, more_threads, more_memory = asyncio.run(scenario())
        assert {event["status"] for event in events} == {"met"}
        assert more_threads <= 50, "a client of its own would be several threads for each"
        assert more_memory < 128 * 2**20


class TestLagTrigger:
    def test_fires_once_for_each_time_that_the_sink_falls_behind(self, bootstrap: str, topic: MakeTopic) -> None:
        name, sink = topic(), unique("sink")
        produce(bootstrap, name, ["a", "b"])
        trigger = ConnectorLagTrigger(connector={"name": sink, "topics": name}, min_records=2, poke_interval=0.05)
        payloads: list[dict[str, Any]] = []

        async def collect() -> None:
            async for event in trigger.run():
                payloads.append(event.payload)

        async def until(events: int) -> None:
            while len(payloads) < events:
                await asyncio.sleep(0.02)

        async def scenario() -> None:
            collecting = asyncio.create_task(collect())
            await asyncio.wait_for(until(1), 60)
            await asyncio.sleep(0.5)  # several looks at the same lag
            assert len(payloads) == 1
            await asyncio.to_thread(commit, bootstrap, f"connect-{sink}", {(name, 0): 2})
            await asyncio.to_thread(produce, bootstrap, name, ["c", "d", "e"], settings=_AT_ONCE)
            await asyncio.wait_for(until(2), 60)
            collecting.cancel()

        asyncio.run(scenario())
        assert payloads == [
            {"connector": sink, "records": 2, "topics": {name: 2}},
            {"connector": sink, "records": 3, "topics": {name: 3}},
        ]

    def test_keeps_looking_while_the_broker_is_unavailable(
        self, bootstrap: str, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared, "TIMEOUT_S", 0.2)
        monkeypatch.setattr(shared, "UNAVAILABLE_S", 0.0)
        monkeypatch.setenv("AIRFLOW_CONN_UNREACHABLE", json.dumps({"conn_type": "kafka", "host": "127.0.0.1:1"}))
        name = topic()
        produce(bootstrap, name, ["a"])
        trigger = ConnectorLagTrigger(
            connector={"name": unique("sink"), "topics": name},
            min_records=1,
            kafka_conn_id="unreachable",
            poke_interval=0.1,
        )

        async def scenario() -> dict[str, Any]:
            waiting = asyncio.create_task(_first(trigger))
            await asyncio.sleep(1)
            assert not waiting.done()
            connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
            monkeypatch.setattr(shared, "TIMEOUT_S", 30.0)
            monkeypatch.setenv("AIRFLOW_CONN_UNREACHABLE", json.dumps(connection))
            return await asyncio.wait_for(waiting, 60)

        assert asyncio.run(scenario())["records"] == 1
