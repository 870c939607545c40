"""Requests to a server with Connect's REST API: JSON in and out, retries while it rebalances, errors with a cure."""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator
from http import HTTPStatus
from typing import Any

import httpx

from airflow_kconnect.connect.errors import ConnectError, RetriableError, first_line
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.remote.access import Access, Credentials
from airflow_kconnect.remote.errors import ServerError, not_connect

# A worker of a Connect cluster gives up a request of its own after 90 s, and then says what it was doing.
_TIMEOUT = httpx.Timeout(100.0, connect=10.0)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0
# What Connect says while its workers share connectors out; requests that it does not forward get 500 then.
_REBALANCING = ("rebalanc", "momentarily", "stale configuration")
_UNAVAILABLE = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
_LONGEST_TEXT = 1000


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._header = f"Bearer {token}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = self._header
        yield request


class RestClient:
    """A server's REST API.

    :param patience_s: how long requests are repeated while a Connect cluster rebalances.
    :raises ConfigError: a certificate file cannot be used.
    """

    def __init__(self, access: Access, patience_s: float = 5.0) -> None:
        self.url, self._login, self._patience_s = access.url, access.source.login, patience_s
        headers = {"Accept": "application/json"}
        auth = _auth_of(access.credentials)
        self._client = httpx.Client(auth=auth, timeout=_TIMEOUT, headers=headers, verify=access.tls())

    def call(self, method: str, path: str, body: Any = None, **query: str | list[str]) -> Any:
        """The parsed answer; None if it is empty.

        :param path: below the URL; its parts are quoted.
        :raises NotFoundError: 404. :raises ServerError: another refusal, or something else than Connect answers.
        :raises RetriableError: no answer in time, the server is unavailable, or it rebalances for too long.
        """
        deadline_s, pause_s = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            response = self._send(method, path, body, query)
            if not _is_rebalancing(response) or time.monotonic() + pause_s > deadline_s:
                return self._answer(response)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: Any, query: dict[str, str | list[str]]) -> httpx.Response:
        try:
            return self._client.request(method, self.url + path, json=body, params=query or None)
        except httpx.TimeoutException:
            raise RetriableError(f"{self.url} does not answer in time: is it the right address?") from None
        except (httpx.HTTPError, OSError) as error:
            why = first_line(_cause(error))
            raise RetriableError(f"{self.url} cannot be reached: {why}. Is the server running?") from None

    def _answer(self, response: httpx.Response) -> Any:
        status = response.status_code
        if response.is_redirect:
            to = response.headers.get("location", "elsewhere").partition("?")[0]
            raise ServerError(f"{self.url} is not Connect's REST API: it redirects to {to}", status)
        if response.is_success:
            return self._parsed(response)
        message = _message(response)
        if status == HTTPStatus.UNAUTHORIZED:
            cure = f"{self._login[0].upper()}{self._login[1:]}"
            raise ServerError(f"{self.url} does not know you: {message or status}. {cure}", status)
        if message is None:
            raise self._not_connect(response)
        raise _refusal(self.url, status, message)

    def _parsed(self, response: httpx.Response) -> Any:
        if not response.content.strip():
            return None
        try:
            return response.json()
        except ValueError:
            raise self._not_connect(response) from None

    def _not_connect(self, response: httpx.Response) -> ConnectError:
        kind = response.headers.get("content-type", "nothing").partition(";")[0]
        facts = f"HTTP {response.status_code}, {kind}"
        if response.status_code in _UNAVAILABLE:
            return RetriableError(f"{self.url} is unavailable ({facts}): try again")
        if response.status_code == HTTPStatus.FORBIDDEN:
            return ServerError(f"{self.url} refuses this request ({facts}): you have no right to it", 403)
        return not_connect(self.url, facts, response.status_code)


def _auth_of(credentials: Credentials) -> httpx.Auth | None:
    if credentials.token is not None:
        return _Bearer(credentials.token)
    return None if credentials.user is None else httpx.BasicAuth(credentials.user, credentials.password or "")


def _cause(error: BaseException) -> BaseException | str:
    """The error that httpx has wrapped: its text says more for TLS."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause or error


def _message(response: httpx.Response) -> str | None:
    """The text of Connect's error body; None if it is not one."""
    try:
        body = response.json()
    except ValueError:
        return None
    # Airflow's login answers with `detail`.
    text = body.get("message", body.get("detail")) if isinstance(body, dict) else None
    return None if text is None else str(text)[:_LONGEST_TEXT]


def _is_rebalancing(response: httpx.Response) -> bool:
    if response.status_code not in (HTTPStatus.CONFLICT, HTTPStatus.INTERNAL_SERVER_ERROR):
        return False
    return _says_rebalancing(_message(response) or "")


def _says_rebalancing(message: str) -> bool:
    return any(word in message.lower() for word in _REBALANCING)


def _refusal(url: str, status: int, message: str) -> ConnectError:
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(message)
    if status == HTTPStatus.FORBIDDEN:
        return ServerError(f"{url} does not allow this: {message}", status)
    if status in _UNAVAILABLE:
        return RetriableError(f"{url}: {message}")
    if status in (HTTPStatus.CONFLICT, HTTPStatus.INTERNAL_SERVER_ERROR) and _says_rebalancing(message):
        return RetriableError(f"{url}: {message}. Try again")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        text = f"{url} failed (HTTP {status}): {' '.join(message.split())}"
        # Connect's own timeouts: a broker or the leader does not answer it.
        return RetriableError(text) if "timed out" in text.lower() else ServerError(text, status)
    return ServerError(message, status)
