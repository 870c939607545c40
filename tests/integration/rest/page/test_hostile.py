"""Names, configurations and traces that would be markup, if the page took them for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from selenium import webdriver

from airflow_kconnect.stores.status_topic.records import State
from tests.support import unique
from tests.support.kafka import create_topic
from tests.support.pages.connectors_page import ConnectorsPage, watched_page
from tests.support.pages.page_server import PageServer, page_server
from tests.support.pages.shop_runs import failed, run, told
from tests.support.registered import Registered, dead_letter

EVIL = "<img src=x onerror=\"document.title='hit'\"><script>document.title='hit'</script>"
CONFIG = {
    "connector.class": EVIL,
    "topics": EVIL,
    EVIL: EVIL,
    "errors.deadletterqueue.context.headers.enable": "true",
}


@pytest.fixture(scope="module")
def evil_server(bootstrap: str) -> Iterator[PageServer]:
    """A server with a connector that is markup in all places; the last of its tests deletes it."""
    letters = create_topic(bootstrap, unique("letters"))
    dead_letter(bootstrap, letters, EVIL, EVIL, EVIL)
    config = {**CONFIG, "errors.deadletterqueue.topic.name": letters}
    origin = {"dag": EVIL, "task": EVIL, "run": EVIL, "file": EVIL, "host": EVIL}
    past = [run(9, 1, 1, warnings=(EVIL,), replay=EVIL), replace(failed(60, 5, EVIL), origin=origin)]
    offset, runs = ({EVIL: EVIL}, {EVIL: EVIL}), told(past, config, EVIL, EVIL)
    evil = Registered(EVIL, config, State.FAILED, (State.FAILED,), EVIL, (EVIL,), (offset,), runs=runs)
    with page_server(bootstrap) as server:
        server.add(evil)
        yield server


@pytest.fixture
def evil(evil_server: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of that connector."""
    with watched_page(browser, evil_server.url) as shown:
        shown.open()
        shown.see(EVIL, "tbody")
        yield shown


def _nothing_happened(page: ConnectorsPage) -> bool:
    made = page.script("return document.querySelectorAll('main img, main script').length")
    return bool(page.driver.title == "Connectors" and made == 0)


def test_list_and_tabs(evil: ConnectorsPage) -> None:
    assert _nothing_happened(evil)
    evil.find("tbody a.name").click()
    evil.see(EVIL, "h1")
    for tab in ("Overview", "Runs", "Configuration", "Tasks", "Offsets", "Topics", "Dead letters"):
        evil.click(tab)
        if tab == "Dead letters":
            evil.click("Show the last ones")
            evil.see(EVIL, ".letter")
        elif tab == "Configuration":
            evil.see(EVIL, ".others")
        elif tab != "Offsets":
            evil.see(EVIL, "#panel")
        assert _nothing_happened(evil), tab
    evil.errors()


def test_deleting(evil: ConnectorsPage, evil_server: PageServer) -> None:
    evil.find("tbody a.name").click()
    evil.click("Delete")
    evil.find("dialog input").send_keys(EVIL)
    evil.find("dialog .danger").click()
    evil.see("No connectors yet")
    assert (evil_server.plane.names(), _nothing_happened(evil)) == ([], True)


def test_scripts_in_the_page_itself_are_refused(page: ConnectorsPage) -> None:
    page.open()
    page.see("Connectors", "h1")
    page.script("try { document.createElement('div').innerHTML = '<p>x</p>'; } catch { document.title = 'refused'; }")
    assert page.driver.title == "refused"
    page.errors()
