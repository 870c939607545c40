"""An HTTP client for functions that read or write APIs: it retries while the server is unavailable or busy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError, RetriableError

if TYPE_CHECKING:
    import httpx

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_S, _LONGEST_S = 0.5, 30.0
_wait = time.sleep
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


def http_client(*, attempts: int = 5, longest_wait_s: float = 60.0, **options: Any) -> httpx.Client:
    """A client of httpx that retries requests.

    It retries if there is no connection, or if the response is 408, 425, 429 or 5xx: after ``Retry-After`` if the
    response has it, else after half a second, twice as long each time, with some jitter. A ``POST`` or ``PATCH`` that
    may have arrived is not retried, unless it has a header ``Idempotency-Key``.

    A response with an error is raised: the above as `RetriableError` (exit code 3), others as `DataError`. The texts
    name method, host, path and status, and not the query, since it may contain a secret.

    :param attempts: how often a request is sent, at most.
    :param longest_wait_s: seconds; a longer ``Retry-After`` is not waited for: the run ends, and a later one retries.
    :param options: of `httpx.Client`: `base_url`, `headers`, `auth`, `timeout`, ...
    :raises ImportError: httpx is not installed.
    """
    import httpx

    class Client(httpx.Client):
        def send(self, request: httpx.Request, **kwargs: Any) -> httpx.Response:
            return _sent(request, lambda: super(Client, self).send(request, **kwargs), attempts, longest_wait_s)

    return Client(**options)


def _sent(
    request: httpx.Request, send: Callable[[], httpx.Response], attempts: int, longest_wait_s: float
) -> httpx.Response:
    import httpx

    what = f"{request.method} {request.url.scheme}://{request.url.netloc.decode()}{request.url.path}"
    may_repeat = request.method in _SAFE or "idempotency-key" in request.headers
    for attempt in range(1, attempts + 1):
        wait_s: float | None = min(_FIRST_S * 2 ** (attempt - 1), _LONGEST_S) * random.uniform(0.75, 1.25)
        try:
            response = send()
        except httpx.TransportError as error:
            problem = f"{what}: {type(error).__name__}: {error}"
            if not may_repeat and not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                raise RetriableError(f"{problem}. It may have arrived, so it is not retried") from error
        else:
            if not response.is_error:
                return response
            response.read()
            problem = f"{what}: {response.status_code} {response.reason_phrase}"
            if response.status_code not in _BUSY:
                raise DataError(problem)
            wait_s = _retry_after(response, wait_s, longest_wait_s)
            if not may_repeat and response.status_code not in (429, 503):
                raise RetriableError(f"{problem}. It may have been done, so it is not retried")
        if attempt == attempts or wait_s is None:
            break
        _wait(wait_s)
    raise RetriableError(f"{problem} ({attempt} attempts)")


def _retry_after(response: httpx.Response, otherwise_s: float | None, longest_s: float) -> float | None:
    """How long to wait; None: longer than a run should."""
    text = response.headers.get("retry-after", "")
    if not text.isdigit():  # a date is rare, and clocks differ
        return otherwise_s
    return float(text) if float(text) <= longest_s else None
