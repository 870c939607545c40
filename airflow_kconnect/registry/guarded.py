"""HTTP for URLs from a connector's configuration: what they may not reach, and how long an answer may be."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_kconnect.connect.errors import ConfigError, RetriableError, in_one_line

if TYPE_CHECKING:
    import ssl

    import httpx

ANSWER_MAX_BYTES = 8_000_000
"""The longest answer that is read: a schema of a megabyte, quoted as JSON, and some more."""
NOT_HTTP = "Each URL must be http://host or https://host, with a port if it is not 80 or 443"


def is_http(url: str) -> bool:
    """Whether a URL can be asked by HTTP: its scheme, host and port."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


@dataclass
class GuardedHttp:
    """Sends requests to servers that a connector's configuration names.

    Their URLs must not become a way into the network's own services: no redirect is followed, link-local addresses
    (where clouds keep credentials) are refused once the connection is made, before anything is sent, and long answers
    are cut off with an error.

    :param key: of the URL, with the converter's prefix; for errors.
    :param connect_s: how long to wait for a connection. :param read_s: and for an answer.
    :param tls: called if a URL is one of https. :raises ConfigError: certificates cannot be used.
    :param proxy: URL of a proxy, or None.
    """

    key: str
    connect_s: float
    read_s: float
    tls: Callable[[], ssl.SSLContext] = field(repr=False)
    proxy: str | None = None

    def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> tuple[int, bytes]:
        """Send a request; returns status and body.

        :raises RetriableError: no connection, or no answer in time. :raises ConfigError: it may not be reached.
        """
        import httpx

        client = self._encrypted if url.startswith("https:") else self._plain
        shown, extensions = url.partition("?")[0], {"trace": self.check_peer}
        try:
            with client.stream(method, url, headers=headers, content=content, extensions=extensions) as response:
                return response.status_code, self._read(response, shown)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise RetriableError(f"{shown}: {in_one_line(error)}") from error

    def check_peer(self, event: str, details: Mapping[str, Any]) -> None:
        """Called by httpx with each step of a request; the connection's other end is known before anything is sent.

        :raises ConfigError: its address is one at which nothing is asked.
        """
        if event != "connection.connect_tcp.complete":
            return
        address = details["return_value"].get_extra_info("server_addr")
        host = ipaddress.ip_address(str(address[0]).partition("%")[0])
        mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
        if (mapped or host).is_link_local or (mapped or host).is_multicast:
            raise self._refused(f"{host} is a link-local address, at which nothing is asked")

    def _read(self, response: httpx.Response, url: str) -> bytes:
        data = bytearray()
        for part in response.iter_bytes():
            data += part
            if len(data) > ANSWER_MAX_BYTES:
                raise self._refused(f"{url} answers with more than {ANSWER_MAX_BYTES:,} bytes")
        return bytes(data)

    def _refused(self, problem: str) -> ConfigError:
        return ConfigError({self.key: [problem]})

    @cached_property
    def _plain(self) -> httpx.Client:
        import ssl

        return self._client(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))  # trusts no one: it is used without TLS only

    @cached_property
    def _encrypted(self) -> httpx.Client:
        return self._client(self.tls())

    def _client(self, verify: ssl.SSLContext) -> httpx.Client:
        import httpx

        return httpx.Client(
            timeout=httpx.Timeout(self.read_s, connect=self.connect_s),
            proxy=self.proxy,
            verify=verify,
            follow_redirects=False,
            # Proxies, certificates and passwords of the environment are not this connector's.
            trust_env=False,
        )
