"""Requests to a server with Connect's REST API: JSON in and out, and errors that say what to do."""

from __future__ import annotations

import ipaddress
import ssl
import time
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx

from airflow_kconnect.cli.connectors.api import ServerError
from airflow_kconnect.cli.connectors.profiles import Credentials
from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError, first_line
from airflow_kconnect.control.errors import NotFoundError

# A worker of a Connect cluster gives up after 90 s.
_TIMEOUT = httpx.Timeout(100.0, connect=10.0)
_ATTEMPTS = 5
_PAUSE_S = 1.0
# While its workers share connectors out, a Connect cluster refuses what would change them.
_REBALANCING = ("rebalanc", "momentarily", "stale configuration")
_MOST_OF_A_BODY = 200
_LOGIN = "set KCONNECT_TOKEN, or KCONNECT_USER and KCONNECT_PASSWORD, or name a profile with them"


class _Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._header = f"Bearer {token}"

    def auth_flow(self, request: httpx.Request) -> Any:
        request.headers["Authorization"] = self._header
        yield request


class RestClient:
    """A server's REST API.

    :param url: its address; paths such as Airflow's `/kconnect` are part of it.
    :raises ConfigError: it is not the URL of a server, or has a password in it.
    """

    def __init__(self, url: str, credentials: Credentials) -> None:
        self.url = checked_url(url)
        auth = _auth_of(credentials)
        self._client = httpx.Client(auth=auth, timeout=_TIMEOUT, headers={"Accept": "application/json"})
        self.exposed = auth is not None and self.url.startswith("http:") and not _is_local(self.url)
        """Whether credentials go unencrypted to another machine."""

    def call(self, method: str, path: str, body: Any = None, **query: str | list[str]) -> Any:
        """The parsed answer; None if it is empty.

        :param path: below the URL; its parts are quoted.
        :raises NotFoundError: 404. :raises ServerError: another refusal; the text is the server's.
        :raises RetriableError: no answer, or the server is unavailable for now.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            response = self._send(method, path, body, query)
            if not _is_rebalancing(response) or attempt == _ATTEMPTS:
                break
            time.sleep(_PAUSE_S)
        return self._answer(response)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: Any, query: dict[str, str | list[str]]) -> httpx.Response:
        try:
            return self._client.request(method, self.url + path, json=body, params=query or None)
        except httpx.TimeoutException:
            raise RetriableError(f"{self.url} does not answer in time: is it the right address?") from None
        except httpx.HTTPError as error:
            why = first_line(_cause(error))
            raise RetriableError(f"{self.url} cannot be reached: {why}. Is the server running?") from None

    def _answer(self, response: httpx.Response) -> Any:
        if response.is_redirect:
            to = response.headers.get("location", "elsewhere").partition("?")[0]
            raise ServerError(f"{self.url} is not Connect's REST API: it redirects to {to}", response.status_code)
        if response.is_success:
            return self._parsed(response)
        message = _message(response)
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise ServerError(f"{self.url} does not know you: {message or '401'}. {_LOGIN[0].upper()}{_LOGIN[1:]}", 401)
        if message is None:
            raise self._not_connect(response)
        raise _refusal(self.url, response.status_code, message)

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
        if response.status_code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT):
            return RetriableError(f"{self.url} is unavailable ({facts}): try again")
        if response.status_code == HTTPStatus.FORBIDDEN:
            return ServerError(f"{self.url} refuses this request ({facts}): you have no right to it", 403)
        text = f"{self.url} does not answer like Connect's REST API ({facts}): is it the right address, with its path?"
        return ServerError(text, response.status_code)


def checked_url(url: str) -> str:
    """The URL without a slash at its end. :raises ConfigError: it is not the URL of a server, or has a password."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError({"--server": [f"{_safe(url)} is not a URL such as http://127.0.0.1:8083"]})
    if "@" in parts.netloc:
        text = f"the URL of {parts.hostname} has a user in it, which others could read: {_LOGIN}"
        raise ConfigError({"--server": [text]})
    if parts.query or parts.fragment:
        raise ConfigError({"--server": [f"the URL of {parts.hostname} has more than a path: remove what follows it"]})
    return url.strip().rstrip("/")


def _safe(url: str) -> str:
    return "the value" if "@" in url else url


def _auth_of(credentials: Credentials) -> httpx.Auth | None:
    if credentials.token is not None:
        return _Bearer(credentials.token)
    return None if credentials.user is None else httpx.BasicAuth(credentials.user, credentials.password or "")


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
    return None if text is None else str(text)


def _is_rebalancing(response: httpx.Response) -> bool:
    if response.status_code != HTTPStatus.CONFLICT:
        return False
    message = (_message(response) or "").lower()
    return any(word in message for word in _REBALANCING)


def _refusal(url: str, status: int, message: str) -> ConnectError:
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(message)
    if status == HTTPStatus.FORBIDDEN:
        return ServerError(f"{url} does not allow this: {message}", status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return RetriableError(f"{url}: {message}")
    if status == HTTPStatus.CONFLICT and any(word in message.lower() for word in _REBALANCING):
        return RetriableError(f"{url}: {message}. Try again")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError(f"{url} failed (HTTP {status}): {message[: 5 * _MOST_OF_A_BODY]}", status)
    return ServerError(message, status)
