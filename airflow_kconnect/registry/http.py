"""Requests to the instances of a schema registry, and what they answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry import oauth, tls
from airflow_kconnect.registry.authentication import Credentials, credentials
from airflow_kconnect.registry.guarded import GuardedHttp

_TYPE = "application/vnd.schemaregistry.v1+json"
_HEADERS = {"Accept": f"{_TYPE}, application/json", "Content-Type": _TYPE}
_HTTP_CODES = 599
_UNAUTHORIZED = 401


@dataclass(frozen=True)
class Answer:
    """What an instance of the registry has answered.

    :param url: without credentials.
    :param body: the parsed JSON; None if it is not JSON.
    """

    url: str
    status: int
    body: Any

    @property
    def message(self) -> str:
        """The registry's own explanation of an error, in one line."""
        text = self.body.get("message") if isinstance(self.body, dict) else None
        return " ".join(str(text).split())[:500] if text else ""

    @property
    def has_code(self) -> bool:
        """Whether the body has an error code of registries, such as 40403. A wrong path has none, or just 404."""
        code = self.body.get("error_code") if isinstance(self.body, dict) else None
        return isinstance(code, int) and code > _HTTP_CODES


class RegistryHttp:
    """Sends requests to the instances of a registry.

    :param values: parsed values of `registry_config`.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    :raises ConfigError: httpx is not installed.
    """

    def __init__(self, values: Mapping[str, Any], prefix: str) -> None:
        if find_spec("httpx") is None:
            raise ConfigError(
                {f"{prefix}schema.registry.url": ["needs the package httpx: pip install 'airflow-kconnect[avro]'"]}
            )
        self._values, self._prefix = values, prefix
        parts = [urlsplit(url.rstrip("/")) for url in values["schema.registry.url"]]
        self.urls = tuple(urlunsplit((p.scheme, p.netloc.rpartition("@")[2], p.path, "", "")) for p in parts)
        proxy = f"http://{values['proxy.host']}:{values['proxy.port']}" if values["proxy.host"] else None
        self._http = self._guarded("schema.registry.url", proxy)

    @property
    def shown(self) -> str:
        """The URLs, without credentials."""
        return ", ".join(self.urls)

    @property
    def credentials_key(self) -> str:
        """The key to look at if the registry refuses a request."""
        return self._prefix + self._credentials.key

    def send(self, url: int, method: str, path: str, body: object = None) -> Answer:
        """Send a request to one of the `urls`.

        :raises RetriableError: no connection, or no answer in time.
        :raises ConfigError: it may not be reached, or credentials or certificates cannot be used.
        """
        answer = self._sent(url, method, path, body)
        if answer.status == _UNAUTHORIZED and self._credentials.renew():
            return self._sent(url, method, path, body)
        return answer

    def _sent(self, url: int, method: str, path: str, body: object) -> Answer:
        target = self.urls[url]
        content = None if body is None else json.dumps(body).encode()
        status, data = self._http.send(method, target + path, _HEADERS | self._credentials.headers(url), content)
        return Answer(target, status, _parsed(data))

    def _guarded(self, key: str, proxy: str | None = None) -> GuardedHttp:
        connect, read = (self._values[f"http.{step}.timeout.ms"] / 1000 for step in ("connect", "read"))
        return GuardedHttp(
            self._prefix + key, connect, read, lambda: tls.context(self._values, self._prefix), proxy=proxy
        )

    @cached_property
    def _credentials(self) -> Credentials:
        # The proxy is that of the registry alone, as in Confluent's client.
        return credentials(self._values, self._guarded(oauth.ENDPOINT), self._prefix)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
