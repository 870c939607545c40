"""Requests to a Connect worker: login, retries while it rebalances, and errors that say what to do."""

from __future__ import annotations

import time
from typing import Any

import httpx

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError, in_one_line
from airflow_kconnect.migration.credentials import Access

# Connect gives up a request of its own after 90 s, and then says what it was doing.
_READ_S, _CONNECT_S = 100.0, 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0
_LONGEST_TEXT = 500


class MissingError(DataError):
    """Connect knows no such connector, or an older version no such path (404)."""


class ConnectHttp:
    """Sends requests to one worker, which forwards them to others if needed.

    :param patience_s: how long requests are repeated while Connect's group rebalances.
    :raises ConfigError: a certificate file cannot be used.
    """

    def __init__(self, access: Access, patience_s: float = 60.0) -> None:
        self.url, self._patience_s = access.url, patience_s
        self._client = httpx.Client(
            auth=(access.user, access.password) if access.user else None,
            headers={"Accept": "application/json"},
            timeout=httpx.Timeout(_READ_S, connect=_CONNECT_S),
            verify=access.tls(),
        )

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def send(self, method: str, path: str, body: object = None) -> Any:
        """Send a request; returns the parsed answer, None if it is empty.

        :raises RetriableError: no answer in time, an error of Connect itself, or a rebalance for too long.
        :raises MissingError: 404.
        :raises ConfigError: not permitted, or not the REST API of Connect.
        :raises DataError: Connect refuses the request; the text is its answer.
        """
        deadline_s, pause_s = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            response = self._request(method, path, body)
            if not _is_rebalancing(response) or time.monotonic() + pause_s > deadline_s:
                return self._answer(response, f"{method} {self.url}{path}")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _request(self, method: str, path: str, body: object) -> httpx.Response:
        try:
            return self._client.request(method, self.url + path, json=body)
        except httpx.ConnectError as error:
            text = f"no Connect worker can be reached at {self.url}: {in_one_line(error)}. Check --from"
            raise RetriableError(text) from error
        except (httpx.HTTPError, OSError) as error:
            raise RetriableError(f"{method} {self.url}{path}: {in_one_line(error)}") from error

    def _answer(self, response: httpx.Response, request: str) -> Any:
        if response.is_error:
            raise _error(response.status_code, _message(response), request)
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            raise not_connect(self.url, f"it answers with {response.headers.get('Content-Type', 'no type')}") from None


def not_connect(url: str, why: str) -> ConfigError:
    """The error for an address at which something else than Connect answers."""
    return ConfigError({"--from": [f"{url} is not the REST API of Kafka Connect: {why}"]})


def _is_rebalancing(response: httpx.Response) -> bool:
    """Requests that Connect does not forward to another worker are not answered with 409 then, but with 500."""
    if response.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
        return "rebalance" in _message(response)
    return response.status_code == httpx.codes.CONFLICT


def _error(status: int, message: str, request: str) -> ConnectError:
    text = f"{request}: {status} {message}".rstrip()
    if status == httpx.codes.UNAUTHORIZED:
        return ConfigError({"--user": [f"Connect refuses the login ({text})"]})
    if status == httpx.codes.FORBIDDEN:
        return ConfigError({"--user": [f"may not do this ({text})"]})
    if status == httpx.codes.NOT_FOUND:
        return MissingError(text)
    if status == httpx.codes.CONFLICT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return RetriableError(text)
    return DataError(text)


def _message(response: httpx.Response) -> str:
    """Connect's explanation, in one line; of other servers nothing, as their pages are long."""
    try:
        body = response.json()
    except ValueError:
        return ""
    text = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(text or "").split())[:_LONGEST_TEXT]
