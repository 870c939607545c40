"""How to log in to a Connect cluster's REST API; secrets come from files and the environment, not from options."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from airflow_kconnect.connect.errors import ConfigError

USER, PASSWORD = "KCONNECT_CONNECT_USER", "KCONNECT_CONNECT_PASSWORD"


@dataclass(frozen=True)
class Access:
    """Where a REST API is, and how to log in.

    :param url: without credentials and without a slash at its end.
    :param user: for basic authentication; None for none.
    :param ca_file: PEM file of the authorities to trust, instead of the usual ones.
    """

    url: str
    user: str | None = None
    password: str = field(default="", repr=False)
    ca_file: Path | None = None

    @classmethod
    def of(
        cls,
        url: str,
        user: str | None = None,
        password_file: Path | None = None,
        ca_file: Path | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> Access:
        """Check what a user has given.

        :param user: default: `KCONNECT_CONNECT_USER`.
        :param password_file: its first line is the password; default: `KCONNECT_CONNECT_PASSWORD`.
        :raises ConfigError: the URL is not one of a REST API, or a password is missing or cannot be read.
        """
        user = user or environment.get(USER)
        password = environment.get(PASSWORD, "") if password_file is None else _first_line(password_file)
        if user and not password:
            raise ConfigError({"--user": [f"needs a password: --password-file, or the variable {PASSWORD}"]})
        if password_file is not None and not user:
            raise ConfigError({"--password-file": [f"needs a user: --user, or the variable {USER}"]})
        return cls(_checked(url), user, password, ca_file)

    def tls(self) -> ssl.SSLContext | bool:
        """What certificates are checked with. :raises ConfigError: the file has none."""
        if self.ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=str(self.ca_file))
        except OSError as error:  # an SSLError is one, too
            raise ConfigError({"--ca-file": [f"{self.ca_file}: {error.strerror or 'not a PEM file'}"]}) from None


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError({"--from": ["is not a URL such as http://connect:8083"]})
    if "@" in parts.netloc:
        text = "has a user in it, which other users of this machine can see. Use --user and --password-file"
        raise ConfigError({"--from": [f"{text}, or the variables {USER} and {PASSWORD}"]})
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _first_line(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError({"--password-file": [f"cannot read {file}: {reason}"]}) from None
    if not lines or not lines[0]:
        raise ConfigError({"--password-file": [f"{file} is empty; its first line is the password"]})
    return lines[0]
