"""The bound on requests that wait for a thread holds for requests that arrive in the same turn of the loop, too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.threads import THREADS, WAITING, ThreadRoute

_MANY = THREADS + WAITING + 20


async def _called_at_once(endpoint: Callable[[], Awaitable[str]], let_go: threading.Event) -> list[str | BaseException]:
    calls = [asyncio.ensure_future(endpoint()) for _ in range(_MANY)]
    await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    let_go.set()
    return await asyncio.gather(*calls, return_exceptions=True)


def test_requests_of_one_turn_are_refused_beyond_the_bound() -> None:
    let_go = threading.Event()
    route = ThreadRoute("/slow", lambda: "answered" if let_go.wait(60) else "late")
    answers = asyncio.run(_called_at_once(route.endpoint, let_go))
    assert sum(isinstance(answer, RestError) for answer in answers) == 20
    assert answers.count("answered") == THREADS + WAITING


def test_requests_are_accepted_again_after_others_were_answered() -> None:
    let_go = threading.Event()
    route = ThreadRoute("/slow", lambda: "answered" if let_go.wait(60) else "late")

    async def twice() -> str:
        await _called_at_once(route.endpoint, let_go)
        return str(await route.endpoint())

    assert asyncio.run(twice()) == "answered"
