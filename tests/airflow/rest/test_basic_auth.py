"""Tools that can only send user and password, with Airflow's own login: its API server listens on a port here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.airflow.conftest import PASSWORDS
from tests.airflow.rest.conftest import CONFIG
from tests.support import unique


@pytest.fixture
def ask(airflow_url: str, connections: None) -> Iterator[httpx.Client]:
    """A client without credentials."""
    with httpx.Client(base_url=f"{airflow_url}/kconnect", timeout=60) as client:
        yield client


@pytest.mark.parametrize(("user", "status"), [("ada", 201), ("bob", 403)])
def test_a_user_has_the_rights_of_that_user(user: str, status: int, ask: httpx.Client) -> None:
    body = {"name": unique("connector"), "config": CONFIG}
    assert ask.post("/connectors", json=body, auth=(user, PASSWORDS[user])).status_code == status


def test_a_password_may_have_a_colon(ask: httpx.Client) -> None:
    assert ask.get("/connectors", auth=("colon", PASSWORDS["colon"])).status_code == 200


@pytest.mark.parametrize("auth", [("ada", "wrong"), ("ada", ""), ("eve", "geheim")])
def test_a_wrong_password_is_refused(auth: tuple[str, str], ask: httpx.Client) -> None:
    answer = ask.get("/connectors", auth=auth)
    assert (answer.status_code, answer.json()["message"]) == (401, "Airflow does not accept this user and password")


@pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic Z2VoZWlt"])
def test_a_malformed_header_is_refused(header: str, ask: httpx.Client) -> None:
    answer = ask.get("/connectors", headers={"Authorization": header})
    assert (answer.status_code, "Base64" in answer.json()["message"]) == (401, True)


def test_a_login_is_remembered(ask: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that asks every second does not log in every second."""
    known: Any = {"auth": ("ada", PASSWORDS["ada"])}
    assert ask.get("/connectors", **known).status_code == 200
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "http://127.0.0.1:9")
    assert ask.get("/connectors", **known).status_code == 200
    unknown = ask.get("/connectors", auth=("bob", "never used before"))
    assert (unknown.status_code, "does not answer" in unknown.json()["message"]) == (503, True)
