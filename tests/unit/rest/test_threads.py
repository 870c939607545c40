"""The bound on requests that wait for a thread holds for requests that arrive in the same turn of the loop, too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.threads import THREADS, WAITING, ThreadRoute

_MANY = THREADS + WAITING + 20


class _SlowEndpoint:
    """An endpoint that answers once it is let go."""

    def __init__(self) -> None:
        self._let_go = threading.Event()
        route = ThreadRoute("/slow", lambda: "answered" if self._let_go.wait(60) else "late")
        self.called: Callable[[], Awaitable[str]] = route.endpoint

    async def called_by_many_at_once(self) -> list[str | BaseException]:
        """All of them are waiting when the first is refused; then the endpoint is let go."""
        calls = [asyncio.ensure_future(self.called()) for _ in range(_MANY)]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        self._let_go.set()
        return await asyncio.gather(*calls, return_exceptions=True)


def test_requests_of_one_turn_are_refused_beyond_the_bound() -> None:
    answers = asyncio.run(_SlowEndpoint().called_by_many_at_once())
    assert sum(isinstance(answer, RestError) for answer in answers) == 20
    assert answers.count("answered") == THREADS + WAITING


def test_requests_are_accepted_again_after_others_were_answered() -> None:
    async def many_and_then_one() -> str:
        endpoint = _SlowEndpoint()
        await endpoint.called_by_many_at_once()
        return await endpoint.called()

    assert asyncio.run(many_and_then_one()) == "answered"
