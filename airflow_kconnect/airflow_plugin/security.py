"""Airflow's users and their rights on DAGs, for the REST API. All that is used of Airflow's internals for this is here.

A connector is its DAG: who may read the DAG may see the connector, who may edit the DAG may change it. The DAG of a
registered connector is the one that is made for it, that of another one whose task has run it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any

import httpx
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import get_user, resolve_user_from_token
from airflow.configuration import conf
from airflow.models.dag import DagModel
from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from airflow_kconnect.airflow_plugin.databases import connections_of
from airflow_kconnect.airflow_plugin.teams import Teams
from airflow_kconnect.rest.access import Caller
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.submit.dag_ids import dag_id_of

SECTION = "kconnect"
_BEARER = HTTPBearer(auto_error=False)
# A user that was locked is let in for as long.
_TOKEN_S = 60.0
_MAX_TOKENS = 1_000


class DagRights:
    """A user of Airflow, who may do to a connector what the auth manager allows for its DAG, in its team."""

    def __init__(self, user: BaseUser, teams: Teams) -> None:
        self._user, self._teams = user, teams

    def __str__(self) -> str:
        return self._user.get_name()

    def readable(self, names: Iterable[str]) -> list[str]:
        """Those whose DAGs the user may read."""
        return [name for name in names if self._may("GET", name)]

    def check_read(self, connector: str) -> None:
        """:raises RestError: the user may not read the DAG."""
        if not self._may("GET", connector):
            raise RestError(403, f"{self._user.get_name()} may not see connector {connector}")

    def check_write(self, connector: str) -> None:
        """:raises RestError: the user may not edit the DAG."""
        if not self._may("PUT", connector):
            what = f"connector {connector}" if connector else "all connectors"
            raise RestError(403, f"{self._user.get_name()} may not change {what}")

    def databases(self) -> list[dict[str, str]]:
        """See `NamesDatabases`."""
        return connections_of(self._user)

    def may_read_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return self._may_dag("GET", dag)

    def may_edit_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return self._may_dag("PUT", dag)

    def _may_dag(self, method: Any, dag: str | None) -> bool:
        teams = self._teams.possible("") if dag is None else self._teams.of_dag(dag)
        return all(self._may_in(team, method, dag) for team in teams)

    def _may(self, method: Any, connector: str) -> bool:
        # Without a name it is about the server as a whole, such as its loggers: all DAGs.
        dag = dag_id_of(connector) if connector else None
        return all(self._may_in(team, method, dag) for team in self._teams.possible(connector))

    def _may_in(self, team: str | None, method: Any, dag: str | None) -> bool:
        details = None if dag is None else DagDetails(id=dag)
        if team is not None:
            details = replace(details or DagDetails(), team_name=team)
        return get_auth_manager().is_authorized_dag(method=method, details=details, user=self._user)


def check_reports(request: Request, dag_id: str) -> None:
    """:raises RestError: 403, the user of an authenticated request may not read what tasks of the DAG have returned."""
    user: BaseUser = request.state.kconnect_user
    details = DagDetails(id=dag_id)
    if conf.getboolean("core", "multi_team", fallback=False):
        details = replace(details, team_name=DagModel.get_team_name(dag_id))
    entity = DagAccessEntity.XCOM
    if not get_auth_manager().is_authorized_dag(method="GET", access_entity=entity, details=details, user=user):
        raise RestError(403, f"{user.get_name()} may not see what tasks of DAG {dag_id} have returned")


class AirflowPolicy:
    """Callers are Airflow's users; `authenticated` has found out which one."""

    def __init__(self) -> None:
        self._teams = Teams()

    def caller(self, request: Request) -> Caller:
        """See `AccessPolicy`."""
        return DagRights(request.state.kconnect_user, self._teams)


async def authenticated(
    request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
) -> None:
    """Dependency of all routes: 401 unless Airflow knows the user, by token, cookie or (if allowed) password.

    :raises RestError: 401 or 403.
    """
    try:
        password = _basic(request) if bearer is None else None
        if password is not None:
            token = await run_in_threadpool(_tokens.token, *password)
            user = await resolve_user_from_token(token)
        else:
            user = await get_user(request, None, bearer)
    except HTTPException as error:
        raise RestError(error.status_code, str(error.detail)) from None
    request.state.kconnect_user = user


def _basic(request: Request) -> tuple[str, str] | None:
    """User and password of a Basic header, as Connect's tools send it.

    :raises RestError: 401, the header is malformed, or `[kconnect] basic_auth` does not allow it.
    """
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    if not conf.getboolean(SECTION, "basic_auth", fallback=False):
        raise RestError(401, "Basic authentication is switched off: [kconnect] basic_auth; or send a Bearer token")
    try:
        user, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        colon = ""
    if not colon:
        raise RestError(401, "The Authorization header is not `Basic <user:password in Base64>`")
    return user, password


class _Tokens:
    """Airflow's tokens for users and passwords, remembered for a minute by a hash of both."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[float, str]] = {}

    def token(self, user: str, password: str) -> str:
        """A token from Airflow's own login. :raises RestError: 401, the login failed; 503, it did not answer."""
        key = hashlib.sha256(f"{user}\0{password}".encode()).digest()
        expires, token = self._known.get(key, (0.0, ""))
        if time.monotonic() < expires:
            return token
        token = _login(user, password)
        if len(self._known) >= _MAX_TOKENS:
            self._known.clear()
        self._known[key] = (time.monotonic() + _TOKEN_S, token)
        return token


_tokens = _Tokens()


def _login(user: str, password: str) -> str:
    url = f"{conf.get('api', 'base_url').rstrip('/')}/auth/token"
    try:
        answer = httpx.post(url, json={"username": user, "password": password}, timeout=10)
    except httpx.HTTPError as error:
        raise RestError(503, f"Airflow's login at {url} does not answer: {type(error).__name__}") from None
    if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise RestError(503, f"Airflow's login at {url} answers {answer.status_code}")
    if answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        raise RestError(401, "Airflow's auth manager has no login with user and password; send a Bearer token")
    if answer.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
        raise RestError(401, "Airflow does not accept this user and password")
    return str(answer.json()["access_token"])
