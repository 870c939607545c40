"""JDBC URLs: their parts, and what a configuration must not do through one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.parameters import is_allowed, is_password, is_remote_store
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.validation.jdbc_parameters import LOADS, decoded, is_refused, names_in

_URL = re.compile(r"jdbc:(?P<subprotocol>[a-z0-9_-]+)(?:\+[a-z]+)?:(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?:[a-z0-9+_-]+:)*//(?P<authority>[^/?;]*)(?:/(?P<database>[^?;]*))?", re.IGNORECASE)
_KEYS = re.compile(r"[(,]\s*([\w.%-]+)\s*=\s*([^,()]*)")
_HOST = re.compile(r"(\[[^\]]*\]|[^:,\\]+)(?:\\[^:,]*)?(?::(\d+))?")
_ORACLE = re.compile(
    r"(?:thin|oci8?):(?P<user>[^@]*)@(?:tcps?:)?(?://)?(?P<host>[^:/(]+)(?::(?P<port>\d+))?(?:[:/](?P<name>.*))?"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ENCRYPTION = re.compile(r"certificate|\bPKIX\b|SSL is required|not support SSL", re.IGNORECASE)


@dataclass(frozen=True)
class JdbcUrl:
    """A JDBC URL that is safe to hand to a driver.

    :param text: as configured; its parameters may hold secrets, so messages show `shown` instead.
    :param subprotocol: lower case: `postgresql`, `mysql`, `mariadb`, `sqlite`, `derby`, `oracle`, `sqlserver`, ...
    :param host: the first of several; None if the URL has none.
    :param port: None if the URL leaves it to the driver.
    :param database: name of the database, or the path of its file (SQLite, Derby, H2, HSQLDB).
    :param params: the URL's parameters, decoded, names as written.
    """

    text: str = field(repr=False)
    subprotocol: str
    host: str | None
    port: int | None
    database: str | None
    params: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    @property
    def shown(self) -> str:
        """The URL without its parameters, for messages and logs."""
        where = f"//{self.host}{f':{self.port}' if self.port else ''}/" if self.host else ""
        return f"jdbc:{self.subprotocol}:{where}{self.database or ''}"

    @classmethod
    def parse(cls, text: str) -> JdbcUrl:
        """Take a URL apart.

        :raises ValueError: it is not a JDBC URL, or it has parameters that load code or files (the text names them), or
            credentials. The text never shows the URL.
        """
        match = _URL.fullmatch(text.strip())
        if match is None or not match["rest"] or _CONTROL.search(text.strip()):
            raise ValueError("is not a JDBC URL: it must look like jdbc:postgresql://host:5432/database")
        subprotocol, rest = match["subprotocol"].lower(), match["rest"]
        _refuse(rest)
        host, port, database, params = _parts(subprotocol, rest)
        _refuse_others(subprotocol, params)
        return cls(text.strip(), subprotocol, host, port, database, params)


def subprotocol_of(text: str) -> str:
    """What a text has instead of the subprotocol; it may be a wrong URL, or a variable that stands for one."""
    return text.lower().removeprefix("jdbc:").partition(":")[0].partition("+")[0]


def encryption_problem(message: str) -> str | None:
    """A driver's message about certificates that are missing or not trusted, with what to do; None for others."""
    if not _ENCRYPTION.search(message):
        return None
    return f"{message}; check the URL's parameters for certificates and encryption"


def url_validator(name: str, value: Any) -> str | None:
    """Check of a key that holds a JDBC URL; as `ConfigDef`'s validator, alone or in a `LambdaValidator`.

    Null passes: a missing URL is another error.

    :raises ConfigError: keyed by the name: what is wrong. Unlike other messages this one does not show the value,
        which may hold a password.
    """
    if value is None:
        return None
    try:
        JdbcUrl.parse(value)
    except ValueError as error:
        raise ConfigError({name: [f"The URL {error}"]}) from None
    return None


def _refuse(rest: str) -> None:
    names = list(names_in(rest))
    if refused := sorted({decoded(name) for name in names if is_refused(name)}, key=str.lower):
        raise ValueError(
            f"has parameters that can load code, use files or unpack objects in the driver: {', '.join(refused)}; "
            "remove them"
        )
    if any(map(is_password, names)) or _has_user_info(decoded(rest)):
        raise ValueError(
            "holds credentials, which would be seen wherever the URL is shown; "
            "put them into `connection.user` and `connection.password`"
        )
    if LOADS.search(decoded(rest).lower()):
        raise ValueError("names a place that can load code (a directory service or a class path); name host and port")


def _refuse_others(subprotocol: str, params: Mapping[str, str]) -> None:
    if unknown := sorted({name for name in params if not is_allowed(subprotocol, name)} - {""}, key=str.lower):
        raise ValueError(
            f"has parameters that are not among those allowed for {subprotocol}: {', '.join(unknown)}; remove them, or"
            " correct their names"
        )
    if remote := sorted(name for name, value in params.items() if is_remote_store(name, value)):
        raise ValueError(f"names keys or certificates ({', '.join(remote)}) that are not in a file of this machine")


def _has_user_info(rest: str) -> bool:
    authority = _AUTHORITY.match(rest)
    if authority is not None and "@" in authority["authority"]:
        return True
    oracle = _ORACLE.match(rest)
    return oracle is not None and oracle["user"] != ""


Parts = tuple[str | None, int | None, str | None, dict[str, str]]


def _parts(subprotocol: str, rest: str) -> Parts:
    params = _params(subprotocol, rest)
    if (match := _AUTHORITY.match(rest)) is not None:
        host, port = _host(match["authority"])
        given = {key.lower(): value for key, value in params.items()}
        database = unquote_plus(match["database"] or "") or given.get("databasename") or given.get("database")
        return host or given.get("host"), port or _port(given.get("port")), database, params
    if subprotocol == "oracle" and (match := _ORACLE.match(rest)) is not None:
        return match["host"], _port(match["port"]), match["name"], params
    known = database_of(subprotocol)
    path = re.split(known.path_ends, rest, maxsplit=1)[0]
    # pgjdbc also takes jdbc:postgresql:database, on this host.
    return None if known.in_files else "localhost", None, path or None, params


def _params(subprotocol: str, rest: str) -> dict[str, str]:
    known = database_of(subprotocol)
    params = dict(_KEYS.findall(rest.partition("?")[0])) if known.hosts_have_keys else {}
    for text in re.split(known.separators, rest)[1:]:
        name, _, value = text.partition("=")
        if name.strip():
            params[name.strip()] = value
    return {unquote_plus(name): unquote_plus(value) for name, value in params.items()}


def _host(authority: str) -> tuple[str | None, int | None]:
    match = None if "=" in authority else _HOST.match(authority)
    return (match[1], _port(match[2])) if match else (None, None)


def _port(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
