"""Which triggers look together, and when."""

from __future__ import annotations

import asyncio
import time

from airflow_kconnect.stores.positions.positions import ConnectorPositions
from airflow_kconnect.triggers.together import seen_together, until_next


def positions(name: str, servers: str = "localhost:1", **more: str) -> ConnectorPositions:
    return ConnectorPositions({"name": name, "topics": "t", **more}, {"bootstrap.servers": servers})


def looks_of(*connectors: ConnectorPositions) -> list[object]:
    async def scenario() -> list[object]:
        return [each._look for each in await asyncio.gather(*map(seen_together, connectors))]

    return asyncio.run(scenario())


def test_connectors_of_one_kafka_have_one_look() -> None:
    first, second = looks_of(positions("a"), positions("b"))
    assert first is second


def test_those_of_others_have_their_own() -> None:
    overridden = {"consumer.override.client.rack": "r1"}
    found = looks_of(positions("a"), positions("a", "localhost:2"), positions("a", **overridden))
    assert len({id(look) for look in found}) == 3


def test_the_next_look_is_another_one() -> None:
    connector = positions("a")
    assert looks_of(connector) != looks_of(connector)


def test_one_that_was_cancelled_leaves_the_others_their_look() -> None:
    async def scenario() -> ConnectorPositions:
        gone, stays = (asyncio.create_task(seen_together(positions(name))) for name in "ab")
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert asyncio.run(scenario()).name == "b"


def test_those_of_one_interval_wake_together() -> None:
    async def wake(late_s: float) -> float:
        await asyncio.sleep(late_s)
        await until_next(1.0)
        return time.monotonic()

    async def scenario() -> list[float]:
        await until_next(1.0)
        return await asyncio.gather(*(wake(n / 50) for n in range(5)))

    woken = asyncio.run(scenario())
    assert max(woken) - min(woken) < 0.5
