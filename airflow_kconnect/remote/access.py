"""Where a REST API is and how to log in; secrets come from files and the environment, not from options."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from airflow_kconnect.connect.errors import ConfigError


@dataclass(frozen=True)
class Credentials:
    """How a caller proves who it is: by a token, by user and password, or not at all."""

    token: str | None = field(default=None, repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.token is not None or self.user is not None


@dataclass(frozen=True)
class Source:
    """Where a user has named address and login, for messages.

    :param url: the option or key of the URL.
    :param login: what to do if there is none, or if it is refused.
    :param ca_file: the option or key of the certificates.
    """

    url: str
    login: str
    ca_file: str


COMMANDS = Source(
    "--server", "set KCONNECT_TOKEN, or KCONNECT_USER and KCONNECT_PASSWORD, or name a profile with them", "ca_file"
)
"""Of commands for registered connectors."""


@dataclass(frozen=True)
class Access:
    """A REST API, and how to log in.

    :param url: its address; paths such as Airflow's `/kconnect` are part of it.
    :param ca_file: PEM file of the authorities to trust, instead of the usual ones.
    :raises ConfigError: it is not the URL of a server, or has a password in it.
    """

    url: str
    credentials: Credentials = field(default_factory=Credentials)
    ca_file: Path | None = None
    source: Source = COMMANDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _checked(self.url, self.source))

    @property
    def is_exposed(self) -> bool:
        """Whether credentials go unencrypted to another machine."""
        return bool(self.credentials) and self.url.startswith("http:") and not is_local(self.url)

    def tls(self) -> ssl.SSLContext | bool:
        """What certificates are checked with. :raises ConfigError: the file has none."""
        if self.ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=str(self.ca_file))
        except OSError as error:  # an SSLError is one, too
            reason = "not a PEM file" if isinstance(error, ssl.SSLError) else error.strerror
            raise ConfigError({self.source.ca_file: [f"{self.ca_file}: {reason}"]}) from None


def _checked(url: str, source: Source) -> str:
    """The URL without a slash at its end."""
    parts = _parts(url.strip())
    if parts is None:
        found = "the value" if "@" in url else url
        raise ConfigError({source.url: [f"{found} is not a URL such as http://connect:8083"]})
    if "@" in parts.netloc:
        text = f"the URL of {parts.hostname} has a user in it, which others could read: {source.login}"
        raise ConfigError({source.url: [text]})
    if parts.query or parts.fragment:
        raise ConfigError({source.url: [f"the URL of {parts.hostname} has more than a path: remove what follows it"]})
    return url.strip().rstrip("/")


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if valid else None


def is_local(url: str) -> bool:
    """Whether a URL is one of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
