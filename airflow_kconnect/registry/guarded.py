"""HTTP for URLs from a connector's configuration: what they may not reach, and how long an answer may be."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_kconnect.connect.errors import ConfigError, RetriableError, in_one_line

if TYPE_CHECKING:
    import ssl

    import httpx

# Of Amazon, Google and Alibaba: they give out the machine's credentials.
_METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
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


def _without_translation(host: _Address) -> _Address:
    """The IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(host, ipaddress.IPv4Address):
        return host
    if host in _NAT64:
        return ipaddress.IPv4Address(int(host) & 0xFFFF_FFFF)
    return host.ipv4_mapped or host.sixtofour or host


@dataclass
class Guard:
    """Refuses link-local addresses, where clouds keep credentials, and the others of their metadata services.

    :param key: of the URL, with the converter's prefix; for errors.
    """

    key: str

    def check_peer(self, event: str, details: Mapping[str, Any]) -> None:
        """Called by httpx with each step of a request; the connection's other end is known before anything is sent.

        :raises ConfigError: its address is one at which nothing is asked.
        """
        if event != "connection.connect_tcp.complete":
            return
        address = details["return_value"].get_extra_info("server_addr")
        self._check_address(str(address[0]).partition("%")[0])

    def check_url(self, url: str) -> None:
        """Where a proxy connects to is not seen; of a name it is not known.

        :raises ConfigError: the URL has an address at which nothing is asked.
        """
        import httpx

        with suppress(ValueError, httpx.InvalidURL):
            self._check_address(httpx.URL(url).host.partition("%")[0])

    def check_host(self, url: str) -> None:
        """For clients that do not tell whom they have connected to: the host is looked up just before.

        :raises ConfigError: the URL's host has an address at which nothing is asked.
        """
        with suppress(OSError, ValueError):  # the client has an error of its own for that
            for *_, address in socket.getaddrinfo(urlsplit(url).hostname, None, type=socket.SOCK_STREAM):
                self._check_address(str(address[0]).partition("%")[0])

    def _check_address(self, text: str) -> None:
        host = ipaddress.ip_address(text)
        meant = _without_translation(host)
        if meant.is_link_local or meant.is_multicast or meant in _METADATA:
            raise self._refused(f"{host} is a link-local address, or one of metadata services: nothing is asked there")

    def _refused(self, problem: str) -> ConfigError:
        return ConfigError({self.key: [problem]})


@dataclass
class GuardedHttp(Guard):
    """Sends requests to servers that a connector's configuration names.

    Their URLs must not become a way into the network's own services: no redirect is followed, addresses that a `Guard`
    refuses are refused once the connection is made, before anything is sent, and long answers are cut off with an
    error.

    :param connect_s: how long to wait for a connection. :param read_s: and for an answer.
    :param tls: called if a URL is one of https. :raises ConfigError: certificates cannot be used.
    :param proxy: URL of a proxy, or None.
    """

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
        if self.proxy is not None:
            self.check_url(url)
        shown, extensions = url.partition("?")[0], {"trace": self.check_peer}
        try:
            with client.stream(method, url, headers=headers, content=content, extensions=extensions) as response:
                return response.status_code, self._read(response, shown)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise RetriableError(f"{shown}: {in_one_line(error)}") from error

    def _read(self, response: httpx.Response, url: str) -> bytes:
        data = bytearray()
        for part in response.iter_bytes():
            data += part
            if len(data) > ANSWER_MAX_BYTES:
                raise self._refused(f"{url} answers with more than {ANSWER_MAX_BYTES:,} bytes")
        return bytes(data)

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
