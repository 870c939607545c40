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

_requests: RunVar[_Requests] = RunVar("kconnect_rest_requests")


class ThreadRoute(APIRoute):
    """A route whose endpoint is called in one of these threads; 503 if too many requests wait for one already."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint if inspect.iscoroutinefunction(endpoint) else _in_thread(endpoint), **more)


class _Requests:
    """The requests of one event loop that have a thread or wait for one.

    They are counted as they are accepted: the limiter's own count lags, since a request joins its queue only after the
    loop has had a turn, and all requests of that turn would be let in.
    """

    def __init__(self) -> None:
        self._threads = CapacityLimiter(THREADS)
        self._accepted = 0

    async def run(self, endpoint: Callable[[], Any]) -> Any:
        if self._accepted >= THREADS + WAITING:
            raise RestError(503, f"{THREADS} requests are being answered, and {WAITING} wait: try again later")
        self._accepted += 1
        try:
            return await to_thread.run_sync(endpoint, limiter=self._threads)
        finally:
            self._accepted -= 1


def _in_thread(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(endpoint)
    async def call(**values: Any) -> Any:
        return await _of_this_loop().run(functools.partial(endpoint, **values))

    return call


def _of_this_loop() -> _Requests:
    try:
        return _requests.get()
    except LookupError:
        requests = _Requests()
        _requests.set(requests)
        return requests
