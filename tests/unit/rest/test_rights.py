"""A walk through all routes of the app: who is let in to each, and no route that the walk does not know."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.testclient import TestClient

from airflow_kconnect.control.overview.known import Known
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.own_api.watching import app_watch

REACHED = 599
"""The status of a request that was let in: the control plane was asked for something."""


class Right(Enum):
    """What a route needs."""

    NONE = "no login"
    LOGIN = "a login"
    READ = "to read the connector"
    WRITE = "to change the connector"
    ALL = "to change all connectors"


class User(Enum):
    """Who asks. `FOREIGN` is of another team: may read and change another connector, and none of the path."""

    ANONYMOUS = frozenset({Right.NONE})
    FOREIGN = frozenset({Right.NONE, Right.LOGIN})
    READER = frozenset({Right.NONE, Right.LOGIN, Right.READ})
    WRITER = frozenset({Right.NONE, Right.LOGIN, Right.READ, Right.WRITE})
    ADMIN = frozenset(Right)


RIGHTS = {
    ("GET", "/"): Right.LOGIN,
    ("GET", "/health"): Right.NONE,
    ("GET", "/admin/loggers"): Right.LOGIN,
    ("GET", "/admin/loggers/{logger}"): Right.LOGIN,
    ("PUT", "/admin/loggers/{logger}"): Right.ALL,
    ("GET", "/connectors"): Right.LOGIN,
    ("POST", "/connectors"): Right.WRITE,
    ("GET", "/connectors/{connector}"): Right.READ,
    ("DELETE", "/connectors/{connector}"): Right.WRITE,
    ("GET", "/connectors/{connector}/config"): Right.READ,
    ("PUT", "/connectors/{connector}/config"): Right.WRITE,
    ("PATCH", "/connectors/{connector}/config"): Right.WRITE,
    ("GET", "/connectors/{connector}/status"): Right.READ,
    ("GET", "/connectors/{connector}/tasks"): Right.READ,
    ("GET", "/connectors/{connector}/tasks/{task}/status"): Right.READ,
    ("POST", "/connectors/{connector}/tasks/{task}/restart"): Right.WRITE,
    ("POST", "/connectors/{connector}/restart"): Right.WRITE,
    ("PUT", "/connectors/{connector}/pause"): Right.WRITE,
    ("PUT", "/connectors/{connector}/resume"): Right.WRITE,
    ("PUT", "/connectors/{connector}/stop"): Right.WRITE,
    ("GET", "/connectors/{connector}/topics"): Right.READ,
    ("PUT", "/connectors/{connector}/topics/reset"): Right.WRITE,
    ("GET", "/connectors/{connector}/offsets"): Right.READ,
    ("PATCH", "/connectors/{connector}/offsets"): Right.WRITE,
    ("DELETE", "/connectors/{connector}/offsets"): Right.WRITE,
    ("GET", "/connector-plugins"): Right.LOGIN,
    ("GET", "/connector-plugins/{plugin}/config"): Right.LOGIN,
    ("PUT", "/connector-plugins/{plugin}/config/validate"): Right.LOGIN,
    ("GET", "/v1/connectors"): Right.LOGIN,
    ("GET", "/v1/lags"): Right.LOGIN,
    ("GET", "/v1/airflow-connections"): Right.LOGIN,
    ("GET", "/v1/plugins"): Right.LOGIN,
    ("PUT", "/v1/plugins/{plugin}/config/validate"): Right.LOGIN,
    ("GET", "/v1/connectors/{connector}"): Right.READ,
    ("GET", "/v1/connectors/{connector}/offsets"): Right.READ,
    ("PUT", "/v1/connectors/{connector}/config/validate"): Right.WRITE,
    ("GET", "/v1/connectors/{connector}/dead-letters"): Right.READ,
    ("GET", "/v1/connectors/{connector}/dead-letters/last"): Right.WRITE,
    ("POST", "/v1/connectors/bulk"): Right.LOGIN,
    ("POST", "/v1/connectors/{connector}/preview"): Right.WRITE,
    ("POST", "/v1/connectors/{connector}/check"): Right.WRITE,
    ("POST", "/v1/connectors/{connector}/replay"): Right.WRITE,
    ("GET", "/ui"): Right.NONE,
    ("GET", "/ui/{name:path}"): Right.NONE,
}
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/connectors"): {"name": "theirs", "config": {"name": "theirs"}},
    ("PUT", "/admin/loggers/{logger}"): {"level": "INFO"},
    ("POST", "/v1/connectors/bulk"): {"action": "pause", "names": ["theirs"]},
    ("POST", "/v1/connectors/{connector}/preview"): {"records": [{}]},
    ("POST", "/v1/connectors/{connector}/replay"): {"dead_letters": True},
}
PARAMETERS = {
    "{connector}": "theirs",
    "{logger}": "root",
    "{plugin}": "FileStreamSource",
    "{task}": "0",
    "{name:path}": "x",
}


class Plane:
    """A control plane with one connector, whatever else it is asked for ends the request."""

    def names(self) -> list[str]:
        return ["theirs"]

    def __getattr__(self, name: str) -> Any:
        raise RestError(REACHED, name)


class Unregistered:
    """What looks at connectors, of which one has run from a DAG; whatever else it is asked for ends the request."""

    def unregistered(self, name: str) -> Known | None:
        return Known(name) if name == "of-a-dag" else None

    def __getattr__(self, name: str) -> Any:
        raise RestError(REACHED, name)


class Policy:
    """Lets a user do what its rights say, to one connector; a foreign one may change `own`."""

    def __init__(self, user: User) -> None:
        self.user = user

    def __str__(self) -> str:
        return self.user.name

    def caller(self, request: Request) -> Policy:
        """See `AccessPolicy`."""
        self._check(Right.LOGIN, 401)
        return self

    def readable(self, names: Iterable[str]) -> list[str]:
        """See `Caller`."""
        return [name for name in names if self._may(Right.READ, name)]

    def check_read(self, connector: str) -> None:
        """See `Caller`."""
        self._check(Right.READ, 403, connector)

    def check_write(self, connector: str) -> None:
        """See `Caller`."""
        self._check(Right.WRITE if connector else Right.ALL, 403, connector)

    def may_read_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return self._may(Right.READ)

    def may_edit_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return self._may(Right.WRITE)

    def _may(self, right: Right, connector: str = "") -> bool:
        return right in self.user.value or (self.user is User.FOREIGN and connector == "own")

    def _check(self, right: Right, status: int, connector: str = "") -> None:
        if not self._may(right, connector):
            raise RestError(status, "refused")


def answered(route: tuple[str, str], user: User) -> int:
    """The status of a request to a route."""
    method, path = route
    for parameter, value in PARAMETERS.items():
        path = path.replace(parameter, value)
    body = BODIES.get(route, {}) if method != "GET" else None
    return client_of(user).request(method, path, json=body).status_code


@cache
def app_of(user: User) -> FastAPI:
    plane: Any = Plane()
    app = create_app(lambda: plane, Policy(user))
    app.dependency_overrides[app_watch] = Unregistered
    return app


def client_of(user: User) -> TestClient:
    return TestClient(app_of(user), raise_server_exceptions=False, follow_redirects=False)


def test_the_walk_knows_all_routes() -> None:
    """The description of the API is public: it is the same wherever the package is installed."""
    routes = [route for route in app_of(User.ADMIN).routes if getattr(route, "path", "") != "/v1/openapi.json"]
    assert all(isinstance(route, APIRoute) for route in routes)
    found = {(method, route.path) for route in routes if isinstance(route, APIRoute) for method in route.methods}
    assert found == set(RIGHTS)


@pytest.mark.parametrize("user", User, ids=lambda user: user.name.lower())
@pytest.mark.parametrize("route", RIGHTS, ids=" ".join)
def test_a_route_lets_in_who_has_the_right(route: tuple[str, str], user: User) -> None:
    status = answered(route, user)
    if RIGHTS[route] in user.value:
        assert status not in (401, 403)
    else:
        assert status == (401 if user is User.ANONYMOUS else 403)


def test_a_list_has_what_the_user_may_read() -> None:
    assert client_of(User.FOREIGN).get("/connectors").json() == []
    assert client_of(User.READER).get("/connectors").json() == ["theirs"]


@pytest.mark.parametrize("user", [User.READER, User.WRITER])
def test_who_asks_for_a_change_is_in_the_log(user: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "kconnect.rest")
    client_of(user).put("/connectors/theirs/pause")
    client_of(user).get("/connectors/theirs/status")
    assert [record.getMessage() for record in caplog.records if record.name == "kconnect.rest"] == [
        f"{user.name} asks for PUT '/connectors/theirs/pause'"
    ]


def test_a_new_connector_of_ones_own_may_be_made() -> None:
    route = ("POST", "/connectors")
    body = {"name": "own", "config": {"name": "own"}}
    assert client_of(User.FOREIGN).request(*route, json=body).status_code == REACHED


OF_ANY = [
    ("/v1/connectors/of-a-dag", Right.READ),
    ("/v1/connectors/of-a-dag/offsets", Right.READ),
    ("/v1/connectors/of-a-dag/dead-letters", Right.READ),
    ("/v1/connectors/of-a-dag/dead-letters/last", Right.WRITE),
]


@pytest.mark.parametrize("user", [User.FOREIGN, User.READER, User.WRITER], ids=lambda user: user.name.lower())
@pytest.mark.parametrize(("path", "right"), OF_ANY)
def test_a_connector_of_a_dag_is_for_those_who_may_read_or_edit_the_dag(path: str, right: Right, user: User) -> None:
    assert client_of(user).get(path).status_code == (REACHED if right in user.value else 403)


@pytest.mark.parametrize("user", [User.FOREIGN, User.READER], ids=lambda user: user.name.lower())
def test_of_several_connectors_those_of_others_are_left_alone(user: User) -> None:
    (result,) = (
        client_of(user).post("/v1/connectors/bulk", json=BODIES["POST", "/v1/connectors/bulk"]).json()["results"]
    )
    assert result == {"name": "theirs", "done": False, "message": "refused"}
