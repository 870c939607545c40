"""The Connectors page of a server of its own, in a browser that all its tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import control_worker
from tests.support.pages.browser import chromium
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.shop import open_shop
from tests.support.registered import WorkerTopics


@pytest.fixture
def control_props(bootstrap: str) -> dict[str, str]:
    """Keys of a worker with topics of its own, for each test."""
    return control_worker(bootstrap)


@pytest.fixture
def plane(control_props: dict[str, str]) -> Iterator[ControlPlane]:
    """The control plane of these topics, as a server has it."""
    control = ControlPlane(control_props, ControlStores(control_props))
    yield control
    control.close()


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium."""
    with chromium(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture
def topics(bootstrap: str, control_props: dict[str, str]) -> WorkerTopics:
    """The topics of the server, without any connector."""
    return WorkerTopics(bootstrap, control_props)


@pytest.fixture
def page(plane: ControlPlane, topics: WorkerTopics, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page, not opened yet. Whatever was done, the console must have no errors."""
    with served(create_app(lambda: plane, TokenPolicy(None))) as url:
        shown = ConnectorsPage(browser, f"{url}/ui/")
        shown.theme("light")
        yield shown
        errors = shown.errors()
        browser.get("about:blank")
    assert errors == []


@pytest.fixture(scope="package")
def shop_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a server with the connectors of a shop; on a broker of its own, since its topics have plain names."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("shop"))
    broker.start()
    props = control_worker(broker.bootstrap)
    open_shop(broker.bootstrap, WorkerTopics(broker.bootstrap, props))
    plane = ControlPlane(props, ControlStores(props))
    with served(create_app(lambda: plane, TokenPolicy(None))) as url:
        yield f"{url}/ui/"
    plane.close()
    broker.stop()


@pytest.fixture
def shop(shop_url: str, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of the shop, not opened yet."""
    shown = ConnectorsPage(browser, shop_url)
    shown.theme("light")
    yield shown
    assert shown.errors() == []
