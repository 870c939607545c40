"""How the page looks: for screen readers and keyboards (axe-core), in the dark, on small screens, in a frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fastapi import FastAPI, Response
from selenium import webdriver
from selenium.webdriver.common.by import By

from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.page_server import PageServer
from tests.support.pages.shop_runs import Remembering

VIEWS = {
    "list": ("", "orders-warehouse"),
    "failed": ("#/connector/orders-warehouse", "have failed"),
    "runs": ("#/connector/returns-lake/runs", "Dead-lettered"),
    "unregistered": ("#/connector/stock-db", "is not registered"),
    "configuration": ("#/connector/orders-warehouse/configuration", "Everything is valid"),
    "preview": ("#/connector/orders-warehouse/preview", "Records of its topics"),
    "offsets": ("#/connector/shipments-lake/offsets", "Reset all"),
    "topics": ("#/connector/orders-db/topics", "First seen"),
    "dead-letters": ("#/connector/orders-warehouse/dead-letters", "records in"),
    "new": ("#/new", "FileStreamSourceConnector"),
}


RULES: dict[str, tuple[str, ...]] = {"light": (), "dark": ("color-contrast", "link-in-text-block")}
BACKGROUNDS = {"light": "rgb(246, 247, 249)", "dark": "rgb(20, 22, 26)"}


@dataclass
class Look:
    """A view, opened once and looked at in both themes.

    :param backgrounds: theme -> its colour.
    :param violations: theme -> what axe finds in it.
    :param errors: of the console.
    """

    backgrounds: dict[str, str]
    violations: dict[str, list[str]]
    errors: list[str]


def looked_at(shown: ConnectorsPage, name: str) -> Look:
    """What is open now, in both themes: for dark, the rules of axe that are about colours."""
    backgrounds, violations = {}, {}
    for theme in BACKGROUNDS:
        shown.theme(theme)
        shown.screenshot(f"connectors-{name}-{theme}")
        backgrounds[theme] = shown.script("return getComputedStyle(document.body).backgroundColor")
        violations[theme] = shown.accessibility(*RULES[theme])
    shown.theme("light")
    return Look(backgrounds, violations, shown.errors())


# They look like others.
FURTHER = ("runs", "unregistered", "offsets", "topics")


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.exhaustive] * (name in FURTHER)) for name in VIEWS],
)
def look(request: pytest.FixtureRequest, shop_url: str, browser: webdriver.Chrome) -> Look:
    """Of each view."""
    path, text = VIEWS[request.param]
    shown = ConnectorsPage(browser, shop_url)
    shown.theme("light")
    shown.open(path)
    shown.see(text)
    return looked_at(shown, request.param)


def test_axe_finds_nothing_in_a_view(look: Look) -> None:
    assert look == Look(BACKGROUNDS, {theme: [] for theme in BACKGROUNDS}, [])


def test_axe_finds_nothing_in_a_dialog(shop: ConnectorsPage) -> None:
    shop.open("#/connector/orders-db")
    shop.click("Delete")
    look = looked_at(shop, "delete")
    assert look.errors == []
    assert look.violations == {"light": [], "dark": []}


@pytest.mark.parametrize(
    "view",
    ["list", "configuration", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("failed", "runs"))],
)
def test_on_a_small_screen_nothing_is_cut_off(view: str, shop: ConnectorsPage) -> None:
    path, text = VIEWS[view]
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    shop.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        shop.open(path)
        shop.see(text)
        shop.screenshot(f"connectors-{view}-small")
        assert shop.script("return document.documentElement.scrollWidth") <= 400
    finally:
        shop.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


FRAME = """<!doctype html><html class="dark"><title>Airflow</title><body style="margin: 0">
<iframe title="Connectors" src="kconnect/ui/" sandbox="allow-scripts allow-same-origin allow-forms allow-downloads"
 style="border: 0; inline-size: 100vw; block-size: 100vh"></iframe>"""


@pytest.fixture
def framed(own_server: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page as in Airflow: the app mounted below a path, the page in a sandboxed frame of a dark page."""
    outer = FastAPI()
    outer.mount("/base/kconnect", create_app(lambda: own_server.plane, TokenPolicy(None)))
    outer.add_api_route("/base/", lambda: Response(FRAME, media_type="text/html"))
    with served(outer) as url:
        shown = ConnectorsPage(browser, f"{url}/base/")
        shown.open()
        browser.switch_to.frame(browser.find_element(By.TAG_NAME, "iframe"))
        yield shown
        browser.switch_to.default_content()
        browser.get("about:blank")


def test_in_a_frame_it_is_as_dark_as_the_page_around_it_and_can_be_used(
    framed: ConnectorsPage, own_server: PageServer, browser: webdriver.Chrome
) -> None:
    """A connector has an address that survives a reload."""
    own_server.plane.create("lines", {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"})
    framed.click("lines")
    assert framed.script("return getComputedStyle(document.body).backgroundColor") == BACKGROUNDS["dark"]
    framed.click("Offsets")
    framed.see("No offsets yet")
    browser.switch_to.default_content()
    assert browser.current_url.endswith("/base/#/connector/lines/offsets")
    browser.refresh()
    browser.switch_to.frame(browser.find_element(By.TAG_NAME, "iframe"))
    framed.see("No offsets yet")
    framed.click("Delete")
    framed.find("dialog input").send_keys("lines")
    framed.find("dialog .danger").click()
    framed.see("No connectors yet")
    assert own_server.plane.names() == []


def test_in_a_frame_a_link_to_a_log_is_followed_by_the_page_around_it(
    framed: ConnectorsPage, own_server: PageServer, browser: webdriver.Chrome, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_server.plane.create("orders", {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"})
    monkeypatch.setattr(own_server.plane, "_runs", Remembering())
    framed.click("orders")
    framed.click("Runs")
    framed.click("Log")
    framed.until(lambda: browser.current_url.endswith("/dags/kconnect.orders/runs/b/tasks/run"), "it is not followed")
