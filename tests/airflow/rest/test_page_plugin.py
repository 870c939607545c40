"""The Connectors page in Airflow's API server: its files and its data, for Airflow's users."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.airflow.rest.test_rest_plugin import api_server, name, tokens

__all__ = ["api_server", "name", "tokens"]

Tokens = dict[str, dict[str, str]]


def test_the_page_is_served_to_users(api_server: TestClient, tokens: Tokens) -> None:
    answer = api_server.get("/kconnect/ui/", headers=tokens["viewer"])
    assert (answer.status_code, "app.js" in answer.text) == (200, True)


def test_an_overview_has_the_connectors(name: str, api_server: TestClient, tokens: Tokens) -> None:
    answer = api_server.get("/kconnect/v1/connectors", headers=tokens["viewer"])
    assert name in [connector["name"] for connector in answer.json()["connectors"]]


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("admin", True)])
def test_a_user_is_told_what_is_allowed(
    role: str, may: bool, name: str, api_server: TestClient, tokens: Tokens
) -> None:
    answer = api_server.get(f"/kconnect/v1/connectors/{name}", headers=tokens[role])
    assert (answer.status_code, answer.json()["may_write"], answer.json()["history"]) == (200, may, [])
