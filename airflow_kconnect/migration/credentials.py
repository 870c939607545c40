"""How `kconnect migrate` logs in to a Connect cluster: options and environment as an `Access`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Access, Credentials, Source

USER, PASSWORD = "KCONNECT_CONNECT_USER", "KCONNECT_CONNECT_PASSWORD"

_SOURCE = Source("--from", f"use --user and --password-file, or set {USER} and {PASSWORD}", "--ca-file")


def access_of(
    url: str,
    user: str | None = None,
    password_file: Path | None = None,
    ca_file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Access:
    """Check what a user has given.

    :param user: default: `KCONNECT_CONNECT_USER`.
    :param password_file: its first line is the password; default: `KCONNECT_CONNECT_PASSWORD`.
    :param ca_file: PEM file of the authorities to trust, instead of the usual ones.
    :raises ConfigError: the URL is not one of a REST API, or a password is missing or cannot be read.
    """
    user = user or environment.get(USER) or None
    password = environment.get(PASSWORD) if password_file is None else _first_line(password_file)
    if user and not password:
        raise ConfigError({"--user": [f"needs a password: --password-file, or the variable {PASSWORD}"]})
    if password_file is not None and not user:
        raise ConfigError({"--password-file": [f"needs a user: --user, or the variable {USER}"]})
    credentials = Credentials(None, user, password) if user else Credentials()
    return Access(url, credentials, ca_file, _SOURCE)


def _first_line(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError({"--password-file": [f"cannot read {file}: {reason}"]}) from None
    if not lines or not lines[0]:
        raise ConfigError({"--password-file": [f"{file} is empty; its first line is the password"]})
    return lines[0]
