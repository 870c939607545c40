"""Profiles: which server or which Kafka, and with which credentials, under a short name in a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Credentials

_KEYS = ("server", "worker", "bootstrap_servers", "token_file", "token", "user", "password_file", "password", "ca_file")
_SECRETS = ("token", "password")
_OTHERS = 0o077


@dataclass(frozen=True)
class Profile:
    """A named target.

    :param credentials: for its server; None if the environment has them.
    :param ca_file: PEM file of the authorities that its server's certificate is checked with; None: the usual ones.
    """

    name: str
    server: str | None = None
    worker: Path | None = None
    bootstrap_servers: str | None = None
    credentials: Credentials | None = None
    ca_file: Path | None = None


def profiles_file() -> Path:
    """`$KCONNECT_CONFIG`, else `kconnect/config.toml` in the user's configuration folder."""
    if named := os.environ.get("KCONNECT_CONFIG"):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "kconnect" / "config.toml"


def profile_of(name: str, file: Path | None = None) -> Profile:
    """A profile of the file.

    :raises ConfigError: there is no profile of this name, the file is wrong, or others can read a secret in it.
    """
    path = file or profiles_file()
    known = _read(path)
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise ConfigError({"--profile": [f"{path} has no profile {name}; it has: {names}"]})
    return _Parser(path, name, known[name]).profile()


def _read(path: Path) -> Mapping[str, Any]:
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        text = f"there is no file {path}: write it, with a table [profiles.NAME], or name another with KCONNECT_CONFIG"
        raise ConfigError({"--profile": [text]}) from None
    except OSError as error:
        raise ConfigError({"--profile": [f"cannot read {path}: {error.strerror}"]}) from None
    except UnicodeDecodeError:
        raise ConfigError({"--profile": [f"{path} is not UTF-8"]}) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError({"--profile": [f"{path} is not TOML: {error}"]}) from None
    profiles = parsed.get("profiles", {})
    tables = isinstance(profiles, dict) and all(isinstance(each, dict) for each in profiles.values())
    if not tables or set(parsed) - {"profiles"}:
        raise ConfigError({"--profile": [f"{path}: profiles are tables [profiles.NAME], and nothing else is read"]})
    _check_others(path, profiles)
    return dict(profiles)


def _check_others(path: Path, profiles: Mapping[str, Mapping[str, Any]]) -> None:
    has_secret = any(key in profile for profile in profiles.values() for key in _SECRETS)
    if has_secret and path.stat().st_mode & _OTHERS:
        text = f"{path} has a password or token in it, and others can read it: `chmod 600 {path}`, or use password_file"
        raise ConfigError({"--profile": [text]})


class _Parser:
    """Collects all that is wrong with a profile."""

    def __init__(self, path: Path, name: str, table: Mapping[str, Any]) -> None:
        self._path, self._name = path, name
        self._errors: dict[str, list[str]] = {}
        self._values = {key: value for key, value in table.items() if self._is_good(key, value)}

    def profile(self) -> Profile:
        values = self._values
        if "server" in values and ("worker" in values or "bootstrap_servers" in values):
            self._wrong("server", "and worker or bootstrap_servers are two targets: write a profile for each")
        if not {"server", "worker", "bootstrap_servers"} & values.keys() and not self._errors:
            self._wrong("server", "is missing: a profile has a server, or worker or bootstrap_servers")
        token, password = self._secret("token"), self._secret("password")
        user = values.get("user")
        if token and (user or password):
            self._wrong("token", "and user with password are two logins: remove one")
        if (user is None) != (password is None) and not self._errors:
            self._wrong("user", "and a password go together: one of them is missing")
        if self._errors:
            raise ConfigError(self._errors)
        given = Credentials(token, user, password) if token or user else None
        worker = self._beside("worker") if "worker" in values else None
        ca_file = self._beside("ca_file") if "ca_file" in values else None
        return Profile(self._name, values.get("server"), worker, values.get("bootstrap_servers"), given, ca_file)

    def _is_good(self, key: str, value: Any) -> bool:
        if key not in _KEYS:
            self._wrong(key, f"is not a key of a profile; these are: {', '.join(_KEYS)}")
        elif not isinstance(value, str) or not value.strip():
            self._wrong(key, "is not a text with something in it")
        else:
            return True
        return False

    def _secret(self, key: str) -> str | None:
        by_file = f"{key}_file"
        if by_file not in self._values:
            return self._values.get(key)
        file = self._beside(by_file)
        try:
            secret = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            self._wrong(by_file, f"cannot read {file}: {why}")
            return None
        if not secret:
            self._wrong(by_file, f"{file} is empty")
        return secret or None

    def _beside(self, key: str) -> Path:
        """Relative paths begin at the folder of the profiles' file."""
        return self._path.parent / Path(self._values[key]).expanduser()

    def _wrong(self, key: str, text: str) -> None:
        self._errors.setdefault(f"profiles.{self._name}.{key}", []).append(text)
