"""Airflow's API server for users of each role, and its UI in a browser that all tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from selenium import webdriver

from tests.airflow.conftest import PASSWORDS
from tests.support import unique
from tests.support.pages.browser import chromium
from tests.support.pages.connectors_page import ConnectorsPage

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
ROLES = ("viewer", "user", "admin")
PATIENCE_S = 60.0


@pytest.fixture
def server(airflow_url: str) -> Iterator[httpx.Client]:
    """A client without credentials."""
    with httpx.Client(base_url=airflow_url, timeout=60) as client:
        yield client


@pytest.fixture
def tokens(airflow_url: str) -> dict[str, dict[str, str]]:
    """Headers of a user of each role."""
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    manager: Any = get_auth_manager()
    return {
        role: {"Authorization": f"Bearer {manager.generate_jwt(SimpleAuthManagerUser(username=role, role=role))}"}
        for role in ROLES
    }


@pytest.fixture
def name(server: httpx.Client, tokens: dict[str, dict[str, str]], connections: None) -> str:
    """A connector that the admin has registered."""
    connector = unique("connector")
    body = {"name": connector, "config": CONFIG}
    answer = server.post("/kconnect/connectors", json=body, headers=tokens["admin"])
    assert answer.status_code == 201, answer.text
    return connector


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium."""
    with chromium(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


def fill_in(page: ConnectorsPage, user: str) -> bool:
    """The form of the login; React may replace its fields meanwhile."""
    for field, text in zip(page.all("input"), (user, PASSWORDS[user]), strict=False):
        page.fill(field, text)
    return True


@pytest.fixture
def log_in(airflow_url: str, browser: webdriver.Chrome) -> Iterator[Callable[[str], ConnectorsPage]]:
    """Opens Airflow's UI as a user; its navigation has the Connectors page then."""

    def enter(user: str) -> ConnectorsPage:
        page = ConnectorsPage(browser, airflow_url)
        page.errors()  # forgets those of the user before
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        page.open("/auth/login")
        page.until(lambda: len(page.all("input")) >= 2, "there is no login form", PATIENCE_S)
        page.until(lambda: fill_in(page, user), "the login form cannot be filled in", PATIENCE_S)
        page.press("button[type='submit'], form button, button")
        page.until(lambda: page.all("a[href$='plugin/connectors']"), "Airflow's navigation has no page", PATIENCE_S)
        return page

    yield enter
    browser.get("about:blank")  # a page that stays asks Airflow again and again
