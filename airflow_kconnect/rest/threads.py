"""The threads that answer requests: a bounded number of them, and a bounded number of requests that wait for one.

They are not those of the server: while Kafka is unavailable, requests here wait for it, and Airflow's own API must not
wait with them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi.routing import APIRoute

from airflow_kconnect.rest.errors import RestError

THREADS = 40
WAITING = 200

_limiter: RunVar[CapacityLimiter] = RunVar("kconnect_rest_threads")


class ThreadRoute(APIRoute):
    """A route whose endpoint is called in one of these threads; 503 if too many requests wait for one already."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint if inspect.iscoroutinefunction(endpoint) else _in_thread(endpoint), **more)


def _in_thread(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(endpoint)
    async def call(**values: Any) -> Any:
        limiter = _of_this_loop()
        if limiter.statistics().tasks_waiting >= WAITING:
            raise RestError(503, f"{THREADS} requests are being answered, and {WAITING} wait: try again later")
        return await to_thread.run_sync(functools.partial(endpoint, **values), limiter=limiter)

    return call


def _of_this_loop() -> CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
        return limiter
