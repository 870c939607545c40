"""Looks of many triggers at connectors of one Kafka: those that are due at the same time are one."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from airflow_kconnect.kafka.shared import SharedKafka
    from airflow_kconnect.stores.positions.looks import Look
    from airflow_kconnect.stores.positions.positions import ConnectorPositions

# Triggers with the same interval wake at the same time; this is for what else is in the way of the event loop.
WINDOW_S = 0.05

_Waiting = list[tuple["ConnectorPositions", "asyncio.Future[Look]"]]
_waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[SharedKafka, _Waiting]] = WeakKeyDictionary()


async def seen_together(connector: ConnectorPositions) -> ConnectorPositions:
    """A connector for one look, which shares its requests with all others that are to be looked at now.

    They share clients, whose configuration is the same in every setting: nothing of one reaches the Kafka of another.
    """
    loop = asyncio.get_running_loop()
    clusters = _waiting.setdefault(loop, {})
    future: asyncio.Future[Look] = loop.create_future()
    if connector.kafka not in clusters:
        clusters[connector.kafka] = []
        loop.call_later(WINDOW_S, _answer, clusters, connector.kafka)
    clusters[connector.kafka].append((connector, future))
    return connector.by(await future)


def _answer(clusters: dict[SharedKafka, _Waiting], kafka: SharedKafka) -> None:
    from airflow_kconnect.stores.positions.looks import LookTogether  # DAG files import the triggers without Kafka

    waiting = [(connector, future) for connector, future in clusters.pop(kafka) if not future.done()]
    look = LookTogether(kafka, [connector.wanted for connector, _ in waiting])
    for _, future in waiting:
        future.set_result(look)


async def until_next(interval_s: float) -> None:
    """Wait for the next look: all triggers of an interval look at the same time, and none waits longer than that."""
    now_s = time.monotonic()
    await asyncio.sleep((math.floor(now_s / interval_s) + 1) * interval_s - now_s if interval_s > 0 else 0)
