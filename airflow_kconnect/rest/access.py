"""Who may do what: each request is checked by the policy of the app, before anything else is done for it."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterable
from typing import Annotated, Protocol
from urllib.parse import urlsplit

from fastapi import Depends, Request

from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.paths import ConnectorName

log = logging.getLogger("kconnect.rest")

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Caller(Protocol):
    """An authenticated caller of one request; its text names the user, for the log."""

    def readable(self, names: Iterable[str]) -> list[str]:
        """Those of the connectors that the caller may see, in the same order."""

    def check_read(self, connector: str) -> None:
        """:raises RestError: 403, the caller may not see this connector."""

    def check_write(self, connector: str) -> None:
        """:raises RestError: 403, the caller may not create, change or delete this connector."""

    def may_read_dag(self, dag: str | None) -> bool:
        """Whether the caller may see connectors that are not registered and run from this DAG; None: all DAGs."""

    def may_edit_dag(self, dag: str | None) -> bool:
        """Whether the caller may change what connectors do that are not registered; as `may_read_dag`."""


class AccessPolicy(Protocol):
    """Finds out who calls."""

    def caller(self, request: Request) -> Caller:
        """The caller of a request. :raises RestError: 401, it is not known who calls."""


class Everything:
    """A caller who may do everything."""

    def __str__(self) -> str:
        return "A caller"

    def readable(self, names: Iterable[str]) -> list[str]:
        """All of them."""
        return list(names)

    def check_read(self, connector: str) -> None:
        """Allowed."""

    def check_write(self, connector: str) -> None:
        """Allowed."""

    def may_read_dag(self, dag: str | None) -> bool:
        """Allowed."""
        return True

    def may_edit_dag(self, dag: str | None) -> bool:
        """Allowed."""
        return True


class TokenPolicy:
    """Callers who know the token may do everything; without a token, all who reach the server.

    :param token: of the header `Authorization: Bearer <token>`.
    """

    def __init__(self, token: str | None) -> None:
        self._token = token

    def caller(self, request: Request) -> Caller:
        """See `AccessPolicy`."""
        if self._token is not None and not self._is_known(request.headers.get("authorization", "")):
            raise RestError(401, "Unauthorized: send the header `Authorization: Bearer <token>`")
        return Everything()

    def _is_known(self, header: str) -> bool:
        scheme, _, credentials = header.partition(" ")
        expected = (self._token or "").encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(credentials.strip().encode(), expected)


def _caller(request: Request) -> Caller:
    if request.method not in _SAFE_METHODS:
        _refuse_other_sites(request)
    policy: AccessPolicy = request.app.state.access
    caller = policy.caller(request)
    if request.method not in _SAFE_METHODS:
        # Whether it is allowed is seen later, and by the status of the answer in the server's own log.
        log.info("%s asks for %s %r", caller, request.method, request.url.path)
    return caller


def _refuse_other_sites(request: Request) -> None:
    """A page of another site must not write with the cookies or from the browser of one of our users."""
    origin = request.headers.get("origin")
    other = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if other or request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise RestError(403, "Requests that change something are not accepted from pages of other sites")


def may_write(caller: Caller, connector: str) -> bool:
    """Whether a caller may change a connector; without a name: all of them."""
    try:
        caller.check_write(connector)
    except RestError:
        return False
    return True


Access = Annotated[Caller, Depends(_caller)]
"""The caller, known and not yet allowed anything."""


def _reading(name: ConnectorName, access: Access) -> None:
    access.check_read(name)


def _writing(name: ConnectorName, access: Access) -> None:
    access.check_write(name)


Reading = Annotated[None, Depends(_reading)]
"""The caller may see the connector of the path."""
Writing = Annotated[None, Depends(_writing)]
"""The caller may change the connector of the path."""
AnyReader = Access
"""Any known caller."""
