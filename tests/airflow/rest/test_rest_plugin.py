"""The REST API in Airflow's API server: for Airflow's users, with their rights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.airflow.conftest import PASSWORDS
from tests.airflow.rest.conftest import CONFIG, ROLES
from tests.support import unique


def test_anonymous_callers_are_refused(server: httpx.Client) -> None:
    assert server.get("/kconnect/connectors").json()["error_code"] == 401


def test_a_wrong_token_is_refused(server: httpx.Client) -> None:
    headers = {"Authorization": "Bearer nonsense"}
    assert server.get("/kconnect/connectors", headers=headers).status_code in (401, 403)


@pytest.mark.parametrize("role", ROLES)
def test_who_may_read_dags_sees_connectors(
    role: str, name: str, server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    assert name in server.get("/kconnect/connectors", headers=tokens[role]).json()


def test_a_new_connector_is_found_under_airflows_url(
    name: str, server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    answer = server.get(f"/kconnect/connectors/{name}", headers=tokens["viewer"])
    assert answer.json()["config"] == {**CONFIG, "name": name}


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("user", 202), ("admin", 202)])
def test_who_may_edit_dags_may_pause(
    role: str, status: int, name: str, server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    assert server.put(f"/kconnect/connectors/{name}/pause", headers=tokens[role]).status_code == status


def test_a_viewer_may_not_create(server: httpx.Client, tokens: dict[str, dict[str, str]], connections: None) -> None:
    body = {"name": unique("connector"), "config": CONFIG}
    assert server.post("/kconnect/connectors", json=body, headers=tokens["viewer"]).status_code == 403


def test_a_cookie_of_another_sites_page_changes_nothing(
    name: str, server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    cookies = {"_token": tokens["admin"]["Authorization"].removeprefix("Bearer ")}
    headers = {"Origin": "https://evil.example"}
    answer = server.put(f"/kconnect/connectors/{name}/pause", headers=headers, cookies=cookies)
    assert answer.status_code == 403


def test_the_location_of_a_new_connector_is_below_the_prefix(
    server: httpx.Client, tokens: dict[str, dict[str, str]], connections: None
) -> None:
    connector = unique("connector")
    body = {"name": connector, "config": CONFIG}
    answer = server.post("/kconnect/connectors", json=body, headers=tokens["admin"])
    assert answer.headers["location"] == f"{server.base_url}/kconnect/connectors/{connector}"


def test_basic_authentication_is_off_unless_it_is_switched_on(
    server: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW__KCONNECT__BASIC_AUTH")
    assert server.get("/kconnect/connectors", auth=("ada", PASSWORDS["ada"])).status_code == 401


@pytest.fixture
def databases(airflow_database: Path) -> Iterator[None]:
    """A connection of each kind that matters, in Airflow's database."""
    from airflow.models.connection import Connection
    from airflow.utils.session import create_session

    kinds = {"warehouse": "postgres", "lake": "generic", "mail": "smtp", "other": "generic"}
    hosts = {"lake": "jdbc:duckdb:/lake.db"}
    with create_session() as session:
        for conn_id, kind in kinds.items():
            row = Connection(conn_id=conn_id, conn_type=kind, host=hosts.get(conn_id, "host"), password="geheim")
            session.add(row)
    yield
    with create_session() as session:
        session.query(Connection).filter(Connection.conn_id.in_(kinds)).delete()


@pytest.mark.parametrize(("role", "names"), [("viewer", []), ("user", []), ("admin", ["lake", "warehouse"])])
def test_connections_to_databases_are_named_to_those_who_may_see_them(
    role: str, names: list[str], databases: None, server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    answer = server.get("/kconnect/v1/airflow-connections", headers=tokens[role])
    assert [each["conn_id"] for each in answer.json()["connections"]] == names
    assert "geheim" not in answer.text


def test_the_server_connects_with_the_login_of_the_connection_that_the_url_names(
    airflow_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As runs do: the URL alone says it."""
    from airflow_kconnect.airflow_plugin.application import _variables

    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", "postgres://ada:geheim@db:5432/shop")
    config = {"connection.url": "${airflow:warehouse:jdbc_url}"}
    values = _variables(config, {})
    assert config["connection.password"] == "${airflow:warehouse:password}"
    assert values["airflow:warehouse:password"] == "geheim"
