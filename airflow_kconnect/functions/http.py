"""An HTTP client for functions that read or write APIs: it retries while the server is unavailable or busy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError, RetriableError

if TYPE_CHECKING:
    import httpx

_BUSY = frozenset({408, 425, 429, *range(500, 600)})
_FIRST_S, _LONGEST_S = 0.5, 30.0
_EPOCH_S = 1e9
_FORBIDDEN = 403
_wait = time.sleep
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


class AnswerError(DataError):
    """A server has answered with an error that will not change, however often it is asked.

    :param response: the answer, which has been read.
    """

    def __init__(self, text: str, response: httpx.Response | None = None) -> None:
        super().__init__(text)
        self.response = response


def http_client(
    *,
    attempts: int = 5,
    longest_wait_s: float = 60.0,
    first_wait_s: float | None = None,
    resends: bool = False,
    **options: Any,
) -> httpx.Client:
    """A client of httpx that retries requests.

    It retries if there is no connection, if the response breaks off, or if it is 408, 425, 429 or 5xx, or 403 with
    ``X-RateLimit-Remaining: 0``: after ``Retry-After`` or at ``X-RateLimit-Reset`` if the response has it, else
    after half a second, twice as long each time, with some jitter. A ``POST`` or ``PATCH`` that may have arrived is not
    retried, unless it has a header ``Idempotency-Key``.

    A response with an error is raised: the above as `RetriableError` (exit code 3), others as `DataError`. The texts
    name method, host, path and status, and not the query, since it may contain a secret.

    :param attempts: how often a request is sent, at most.
    :param longest_wait_s: seconds; a longer ``Retry-After`` is not waited for: the run ends, and a later one retries.
    :param first_wait_s: seconds before the first retry, in place of half a second.
    :param resends: whether any request may be retried, since it does no harm if it arrives twice.
    :param options: of `httpx.Client`: `base_url`, `headers`, `auth`, `timeout`, ...
    :raises ImportError: httpx is not installed.
    """
    import httpx

    patience = _Patience(attempts, _FIRST_S if first_wait_s is None else first_wait_s, longest_wait_s, resends)

    class Client(httpx.Client):
        def send(self, request: httpx.Request, **kwargs: Any) -> httpx.Response:
            return _sent(request, lambda: super(Client, self).send(request, **kwargs), patience)

    return Client(**options)


@dataclass(frozen=True)
class _Patience:
    """See `http_client`."""

    attempts: int
    first_wait_s: float
    longest_wait_s: float
    resends: bool


def _sent(request: httpx.Request, send: Callable[[], httpx.Response], patience: _Patience) -> httpx.Response:
    import httpx

    what = shown(request)
    may_repeat = patience.resends or request.method in _SAFE or "idempotency-key" in request.headers
    for attempt in range(1, patience.attempts + 1):
        pause_s = min(patience.first_wait_s * 2 ** (attempt - 1), max(_LONGEST_S, patience.first_wait_s))
        wait_s: float | None = pause_s * random.uniform(0.75, 1.25)
        try:
            response = send()
        except (httpx.TransportError, httpx.DecodingError) as error:
            problem = f"{what}: {type(error).__name__}: {error}"
            if not may_repeat and not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                raise RetriableError(f"{problem}. It may have arrived, so it is not retried") from error
        else:
            if not response.is_error:
                return response
            response.read()
            problem = f"{what}: {response.status_code} {response.reason_phrase}"
            if response.status_code not in _BUSY and not _is_limited(response):
                raise AnswerError(problem, response)
            wait_s = _retry_after(response, wait_s, patience.longest_wait_s)
            if not may_repeat and response.status_code not in (429, 503):
                raise RetriableError(f"{problem}. It may have been done, so it is not retried")
        if attempt == patience.attempts or wait_s is None:
            break
        _wait(wait_s)
    raise RetriableError(f"{problem} ({attempt} attempts)")


def shown(request: httpx.Request) -> str:
    """A request without what may be secret in it."""
    return f"{request.method} {request.url.scheme}://{request.url.netloc.decode()}{request.url.path}"


def _is_limited(response: httpx.Response) -> bool:
    """Whether it is refused for now, since there were too many requests: GitHub says so by 403."""
    return response.status_code == _FORBIDDEN and response.headers.get("x-ratelimit-remaining") == "0"


def _retry_after(response: httpx.Response, otherwise_s: float | None, longest_s: float) -> float | None:
    """How long to wait; None: longer than a run should."""
    after, reset = response.headers.get("retry-after", ""), response.headers.get("x-ratelimit-reset", "")
    if after.isdigit():  # a date is rare, and clocks differ
        asked_s = float(after)
    elif reset.isdigit():  # seconds from now, or since the epoch
        asked_s = max(float(reset) - (time.time() if float(reset) > _EPOCH_S else 0), 0)
    else:
        return otherwise_s
    return asked_s if asked_s <= longest_s else None
