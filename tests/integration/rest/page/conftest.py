"""The Connectors page of a server, in a browser that all its tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver

from tests.support.pages.browser import chromium
from tests.support.pages.connectors_page import ConnectorsPage, watched_page
from tests.support.pages.page_server import PageServer, page_server
from tests.support.pages.shop import open_shop


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium."""
    with chromium(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="package")
def server(bootstrap: str) -> Iterator[PageServer]:
    """A server that tests share: each adds the connectors that it needs, as it needs them."""
    with page_server(bootstrap) as shared:
        yield shared


@pytest.fixture
def page(server: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of that server, not opened yet. Whatever was done, the console must have no errors."""
    with watched_page(browser, server.url) as shown:
        yield shown


@pytest.fixture
def own_server(bootstrap: str) -> Iterator[PageServer]:
    """A server for one test, without any connector."""
    with page_server(bootstrap) as own:
        yield own


@pytest.fixture
def own_page(own_server: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of that server, as `page`."""
    with watched_page(browser, own_server.url) as shown:
        yield shown


@pytest.fixture(scope="package")
def shop_url(bootstrap: str) -> Iterator[str]:
    """The page of a server with the connectors of a shop."""
    with page_server(bootstrap) as server:
        open_shop(bootstrap, server.topics)
        yield server.url


@pytest.fixture
def shop(shop_url: str, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of the shop, not opened yet."""
    with watched_page(browser, shop_url) as shown:
        yield shown
