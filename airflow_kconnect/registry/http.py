"""Requests to a schema registry: credentials, TLS, and what a URL from a connector's configuration may not reach."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from airflow_kconnect.connect.errors import ConfigError, RetriableError, in_one_line
from airflow_kconnect.registry.keys import USER_INFO

if TYPE_CHECKING:
    import ssl

    import httpx

ANSWER_MAX_BYTES = 8_000_000
"""The longest answer that is read: a schema of a megabyte, quoted as JSON, and some more."""

_TYPE = "application/vnd.schemaregistry.v1+json"
_HTTP_CODES = 599


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

    A connector's configuration names the URL, so it must not become a way into the network's own services: no
    redirect is followed, link-local addresses (where clouds keep credentials) are refused once the connection is made,
    before anything is sent, and long answers are cut off with an error.

    :param values: parsed values of `registry_config`.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    :raises ConfigError: httpx is not installed, or credentials or certificates cannot be used.
    """

    def __init__(self, values: Mapping[str, Any], prefix: str) -> None:
        if find_spec("httpx") is None:
            raise ConfigError(
                {f"{prefix}schema.registry.url": ["needs the package httpx: pip install 'airflow-kconnect[avro]'"]}
            )
        self._values, self._prefix = values, prefix
        parts = [urlsplit(url.rstrip("/")) for url in values["schema.registry.url"]]
        self.urls = tuple(urlunsplit((p.scheme, p.netloc.rpartition("@")[2], p.path, "", "")) for p in parts)
        self._in_url = next((p.netloc.rpartition("@")[0] for p in parts if "@" in p.netloc), "")

    @property
    def shown(self) -> str:
        """The URLs, without credentials."""
        return ", ".join(self.urls)

    def send(self, url: int, method: str, path: str, body: object = None) -> Answer:
        """Send a request to one of the `urls`.

        :raises RetriableError: no connection, or no answer in time. :raises ConfigError: it may not be reached.
        """
        import httpx

        target = self.urls[url]
        content = None if body is None else json.dumps(body).encode()
        extensions = {"trace": self._check_peer}
        try:
            with self._client.stream(method, target + path, content=content, extensions=extensions) as response:
                return Answer(target, response.status_code, _parsed(self._read(response, target)))
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise RetriableError(f"{target}: {in_one_line(error)}") from error

    def _read(self, response: httpx.Response, url: str) -> bytes:
        data = bytearray()
        for part in response.iter_bytes():
            data += part
            if len(data) > ANSWER_MAX_BYTES:
                raise self._refused(f"{url} answers with more than {ANSWER_MAX_BYTES:,} bytes")
        return bytes(data)

    def _check_peer(self, event: str, details: Mapping[str, Any]) -> None:
        """Called by httpx with each step of a request; the connection's other end is known before anything is sent."""
        if event != "connection.connect_tcp.complete":
            return
        address = details["return_value"].get_extra_info("server_addr")
        host = ipaddress.ip_address(str(address[0]).partition("%")[0])
        mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
        if (mapped or host).is_link_local or (mapped or host).is_multicast:
            raise self._refused(f"{host} is a link-local address, at which no registry is asked")

    def _refused(self, problem: str) -> ConfigError:
        return ConfigError({f"{self._prefix}schema.registry.url": [problem]})

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        values = self._values
        timeout = httpx.Timeout(values["http.read.timeout.ms"] / 1000, connect=values["http.connect.timeout.ms"] / 1000)
        proxy = f"http://{values['proxy.host']}:{values['proxy.port']}" if values["proxy.host"] else None
        return httpx.Client(
            auth=self._credentials(),
            headers={"Accept": f"{_TYPE}, application/json", "Content-Type": _TYPE} | self._bearer(),
            timeout=timeout,
            proxy=proxy,
            verify=self._tls(),
            follow_redirects=False,
            # Proxies and certificates of the environment are not this connector's.
            trust_env=False,
        )

    def _credentials(self) -> tuple[str, str] | None:
        values = self._values
        if values["basic.auth.credentials.source"] != USER_INFO:
            user, colon, password = self._in_url.partition(":")
            return (unquote(user), unquote(password)) if colon else None
        given = values["basic.auth.user.info"].value or values["schema.registry.basic.auth.user.info"].value
        user, colon, password = given.partition(":")
        if not colon:
            key = f"{self._prefix}basic.auth.user.info"
            raise ConfigError({key: ["must be `user:password` with `basic.auth.credentials.source=USER_INFO`"]})
        return user, password

    def _bearer(self) -> dict[str, str]:
        token = self._values["bearer.auth.token"]
        return {"Authorization": f"Bearer {token.value}"} if token and token.value else {}

    def _tls(self) -> ssl.SSLContext | bool:
        if not any(url.startswith("https:") for url in self.urls):
            return True
        import ssl

        key = f"{self._prefix}schema.registry.ssl."
        trusted, own = (self._values[f"schema.registry.ssl.{store}.location"] for store in ("truststore", "keystore"))
        try:
            context = ssl.create_default_context(cafile=trusted or None)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError({f"{key}truststore.location": [f"{trusted}: {in_one_line(error)}"]}) from error
        if own:
            password = self._values["schema.registry.ssl.key.password"]
            try:
                context.load_cert_chain(own, password=password.value if password else "")
            except (OSError, ssl.SSLError) as error:
                raise ConfigError({f"{key}keystore.location": [f"{own}: {in_one_line(error)}"]}) from error
        return context


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
