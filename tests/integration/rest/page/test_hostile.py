"""Names, configurations and traces that would be markup, if the page took them for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from selenium import webdriver

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.stores.status_topic.records import State
from tests.support import unique
from tests.support.control import control_plane, control_worker
from tests.support.kafka import create_topic
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.shop_runs import failed, run, told
from tests.support.registered import Registered, WorkerTopics, dead_letter

EVIL = "<img src=x onerror=\"document.title='hit'\"><script>document.title='hit'</script>"
CONFIG = {
    "connector.class": EVIL,
    "topics": EVIL,
    EVIL: EVIL,
    "errors.deadletterqueue.context.headers.enable": "true",
}


@pytest.fixture(scope="module")
def server(bootstrap: str) -> Iterator[tuple[str, ControlPlane]]:
    """A server of its own with a connector that is markup in all places; the last of its tests deletes it."""
    letters = create_topic(bootstrap, unique("letters"))
    dead_letter(bootstrap, letters, EVIL, EVIL, EVIL)
    config = {**CONFIG, "errors.deadletterqueue.topic.name": letters}
    origin = {"dag": EVIL, "task": EVIL, "run": EVIL, "file": EVIL, "host": EVIL}
    past = [run(9, 1, 1, warnings=(EVIL,), replay=EVIL), replace(failed(60, 5, EVIL), origin=origin)]
    offset, runs = ({EVIL: EVIL}, {EVIL: EVIL}), told(past, config, EVIL, EVIL)
    evil = Registered(EVIL, config, State.FAILED, (State.FAILED,), EVIL, (EVIL,), (offset,), runs=runs)
    props = control_worker(bootstrap)
    WorkerTopics(bootstrap, props).add(evil)
    with control_plane(props) as plane, served(create_app(lambda: plane, TokenPolicy(None))) as url:
        yield url, plane


@pytest.fixture
def evil(server: tuple[str, ControlPlane], browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of that connector. The console must have no errors."""
    shown = ConnectorsPage(browser, f"{server[0]}/ui/")
    shown.theme("light")
    shown.open()
    shown.see(EVIL, "tbody")
    yield shown
    errors = shown.errors()
    browser.get("about:blank")
    assert errors == []


def _nothing_happened(page: ConnectorsPage) -> bool:
    made = page.script("return document.querySelectorAll('main img, main script').length")
    return bool(page.driver.title == "Connectors" and made == 0)


def test_list(evil: ConnectorsPage) -> None:
    assert _nothing_happened(evil)


@pytest.mark.parametrize("tab", ["Overview", "Runs", "Configuration", "Tasks", "Offsets", "Topics", "Dead letters"])
def test_tabs(tab: str, evil: ConnectorsPage) -> None:
    evil.find("tbody a.name").click()
    evil.see(EVIL, "h1")
    evil.click(tab)
    if tab == "Dead letters":
        evil.click("Show the last ones")
        evil.see(EVIL, ".letter")
    elif tab == "Configuration":
        evil.see(EVIL, ".others")
    elif tab != "Offsets":
        evil.see(EVIL, "#panel")
    assert _nothing_happened(evil)
    evil.errors()


def test_deleting(evil: ConnectorsPage, server: tuple[str, ControlPlane]) -> None:
    evil.find("tbody a.name").click()
    evil.click("Delete")
    evil.find("dialog input").send_keys(EVIL)
    evil.find("dialog .danger").click()
    evil.see("No connectors yet")
    assert (server[1].names(), _nothing_happened(evil)) == ([], True)


def test_scripts_in_the_page_itself_are_refused(page: ConnectorsPage) -> None:
    page.open()
    page.see("No connectors yet")
    page.script("try { document.createElement('div').innerHTML = '<p>x</p>'; } catch { document.title = 'refused'; }")
    assert page.driver.title == "refused"
    page.errors()
