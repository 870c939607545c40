"""The token of a `kconnect rest` on this machine: other users reach its port, and only its own reads the file."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.remote.access import is_local


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


@contextmanager
def kept(url: str, token: str) -> Iterator[Path]:
    """The file with the token of the server at a URL, for the time that it runs; only this user can read it."""
    file = _file(url)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(token, encoding="ascii")
    try:
        yield file
    finally:
        with suppress(OSError):
            if file.read_text(encoding="ascii") == token:
                file.unlink()


def token_of(url: str) -> str | None:
    """The token of a server on this machine that this user has started; None if there is none."""
    if not is_local(url):
        return None
    try:
        with _file(url).open(encoding="ascii") as file:
            known = os.fstat(file.fileno())
            mine = known.st_uid == os.getuid() and not stat.S_IMODE(known.st_mode) & 0o077
            return file.read().strip() or None if mine else None
    except (OSError, UnicodeDecodeError):
        return None


def _file(url: str) -> Path:
    return cache_folder() / "rest" / f"{urlsplit(url).port or 80}.token"
