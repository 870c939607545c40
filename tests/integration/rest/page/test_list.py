"""The list of connectors: filter, states, sorting, keyboard, refresh."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.target_states import TargetState
from tests.support.pages.connectors_page import ConnectorsPage, watched_page
from tests.support.pages.page_server import PageServer, page_server
from tests.support.pages.shop_runs import failed, of_dag, run, told
from tests.support.registered import Registered

REFRESH_S = 5.0
HOUR_S = 3_600.0
FILE = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


def _press(page: ConnectorsPage, *keys: Any) -> None:
    for key in keys:
        ActionChains(page.driver).send_keys(key).perform()


@pytest.fixture(scope="module")
def three_connectors(bootstrap: str) -> Iterator[PageServer]:
    """A server with three connectors."""
    sink = {**FILE, "connector.class": "DirectorySink", "topics": "t"}
    failing = told([failed(20, 5, "no such file")], FILE, "source", "t")
    with page_server(bootstrap) as server:
        server.add(
            Registered("a", FILE, State.RUNNING, runs=told([run(4 * HOUR_S, 12, 9)], FILE, "source", "t")),
            Registered("b", FILE, State.FAILED, (State.FAILED,), "ConnectException: no such file", runs=failing),
            Registered("c", sink, State.PAUSED, runs=told([run(60, 5, 4)], sink, "sink", "t")),
        )
        yield server


@pytest.fixture
def three(three_connectors: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of that server."""
    with watched_page(browser, three_connectors.url) as page:
        page.open()
        page.see("a", "tbody")
        yield page


def test_an_empty_list_says_what_to_do_first(own_page: ConnectorsPage) -> None:
    own_page.open()
    own_page.see("No connectors yet")
    own_page.click("Create a connector")
    own_page.see("Which connector?")


def test_filter(three: ConnectorsPage) -> None:
    """A look at a connector leaves the choice."""
    three.find("#filter").send_keys("nothing like this")
    three.click("Show all")
    three.see_names("a", "b", "c")
    three.find("#filter").send_keys("directory")
    three.see_names("c")
    three.click("c")
    three.until(lambda: three.text("h1") == "c", "the connector is not shown")
    three.click("Connectors")
    three.see_names("c")


def test_states_are_counted_and_what_is_chosen_is_in_the_address(three: ConnectorsPage) -> None:
    chip = three.find(".chip.failed")
    assert chip.text.split() == ["Failed", "1"]
    chip.click()
    three.see_names("b")
    three.find(".column-lag button").click()
    three.until(lambda: three.driver.current_url.endswith("#/?state=failed&sort=lag"), "the address is another one")
    three.driver.refresh()
    three.see_names("b")


def test_classes_can_be_chosen(three: ConnectorsPage) -> None:
    Select(three.find("select[aria-label='Filter by class']")).select_by_visible_text("DirectorySink")
    three.see_names("c")


def test_stopping_several_asks_first(three: ConnectorsPage, three_connectors: PageServer) -> None:
    three.find("input[aria-label='Select a']").click()
    three.find(".bulk").find_element(By.XPATH, ".//button[.='Stop']").click()
    three.see("Stop 1 connector?", "dialog")
    three.click("Cancel")
    assert three_connectors.plane.registered_state("a").target_state is TargetState.STARTED


def test_what_is_not_shown_is_not_selected(three: ConnectorsPage) -> None:
    three.find("input[aria-label='Select all shown']").click()
    three.find(".chip.failed").click()
    three.see("1 connector selected", ".bulk")
    three.click("Clear")
    assert three.script("return document.activeElement.ariaLabel") == "Select all shown"


def test_one_that_has_only_run_says_where_and_cannot_be_selected(page: ConnectorsPage, server: PageServer) -> None:
    runs = told(of_dag([run(60, 5, 4)], "shop_mirror", "read_shop"), FILE, "source", "t")
    server.add(Registered("shop-source", FILE, runs=runs, registered=False))
    page.open()
    page.see("in DAG shop_mirror · read_shop", "tbody")
    assert not page.all("input[aria-label='Select shop-source']")


def test_a_run_that_lost_all_records_needs_attention(page: ConnectorsPage, server: PageServer) -> None:
    lost = run(60, 12, 7, records={"read": 7, "written": 0, "filtered": 0, "dead_lettered": 7})
    server.add(Registered("tablets", FILE, runs=told([lost], FILE, "source", "t")), Registered("fine", FILE))
    page.open("#/?state=attention")
    page.see("tablets", "tbody")
    assert "fine" not in page.names()
    page.see("all 7 records of the last run became dead letters", "td.why")


def test_sorting(three: ConnectorsPage) -> None:
    """By the last run, which is told."""
    three.see("4 h ago · 12 s\n9 read, 9 written", "td.last")
    three.see("no such file", "td.why")
    three.find(".column-last button").click()
    three.see_names("b", "c", "a")
    three.find(".column-last button").click()
    three.see_names("a", "c", "b")


def test_slash_goes_to_the_filter_arrows_through_the_rows_and_enter_opens_one(three: ConnectorsPage) -> None:
    _press(three, "/", "b")
    three.see_names("b")
    _press(three, Keys.ARROW_DOWN, Keys.ENTER)
    three.see("b", "h1")


ANSWERS = "performance.getEntriesByType('resource').filter((each) => each.name.includes('/v1/connectors'))"


def received(page: ConnectorsPage) -> list[int]:
    """The bytes of each answer with connectors so far."""
    return list(page.script(f"return {ANSWERS}.map((each) => each.transferSize)"))


def asked_since(page: ConnectorsPage, moment_ms: float) -> int:
    """How often the page has asked for connectors since a moment of its own clock."""
    return int(page.script(f"return {ANSWERS}.filter((each) => each.startTime > arguments[0]).length", moment_ms))


def test_when_nothing_changes_almost_nothing_is_received(three: ConnectorsPage) -> None:
    three.until(lambda: len(received(three)) > 1, "the page does not ask again")
    assert received(three)[-1] < 800
    assert three.names() == ["a", "b", "c"]


def test_a_hidden_tab_asks_for_nothing(three: ConnectorsPage) -> None:
    driver, tab = three.driver, three.driver.current_window_handle
    driver.switch_to.new_window("tab")
    other = driver.current_window_handle
    driver.switch_to.window(tab)
    try:
        driver.execute_cdp_cmd("Target.activateTarget", {"targetId": other})
        three.until(lambda: three.script("return document.visibilityState") == "hidden", "the tab stays visible")
        hidden_ms = three.script("return performance.now()")  # an answer may still be under way
        time.sleep(REFRESH_S + 1)
        assert asked_since(three, hidden_ms) == 0
    finally:
        driver.switch_to.window(other)
        driver.close()
        driver.switch_to.window(tab)
    driver.execute_cdp_cmd("Target.activateTarget", {"targetId": tab})
    three.until(lambda: asked_since(three, hidden_ms), "the page does not ask again")


def test_the_lag_of_a_sink_comes_by_itself(shop: ConnectorsPage) -> None:
    shop.open()
    row = "[...document.querySelectorAll('tbody tr')].find((row) => row.textContent.includes('returns-lake'))"
    lag = f"return {row}.querySelector('td.lag').textContent"
    shop.find("tbody tr")
    shop.until(lambda: shop.script(lag) == "5", "the lag is not shown")


class TestChanges:
    """In this order: each test continues with what the one before has left."""

    def test_several_are_paused_at_once_and_the_answers_are_listed(
        self, three: ConnectorsPage, three_connectors: PageServer
    ) -> None:
        three.find("input[aria-label='Select all shown']").click()
        three.see("3 connectors selected", ".bulk")
        three.find("input[aria-label='Select b']").click()
        three.find(".bulk").find_element(By.XPATH, ".//button[.='Pause']").click()
        three.see("Pause: 2 of 2 connectors", "dialog")
        three.click("Close")
        states = three_connectors.plane.target_states()
        assert [states[name] for name in ("a", "c")] == [TargetState.PAUSED] * 2

    def test_a_refresh_shows_changes_says_them_to_screen_readers_and_leaves_the_focus(
        self, three: ConnectorsPage, three_connectors: PageServer
    ) -> None:
        _press(three, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        three_connectors.plane.delete("a")
        three_connectors.plane.set_target_state("b", TargetState.STOPPED)
        three.see_names("b", "c")
        three.see("Stopped\n1", ".chip.stopped")
        said = "return document.getElementById('announcer').textContent"
        three.until(lambda: "b: stopped" in three.script(said), "the change is not announced")
        assert three.focused() == "b"


def test_while_kafka_does_not_answer_it_says_as_of_when_it_is_and_why(
    own_page: ConnectorsPage, own_server: PageServer
) -> None:
    own_page.open()
    own_page.see("No connectors yet")
    own_server.plane.close()
    own_page.see("does not answer: this is as of", "#banner")
    assert own_page.script("return document.documentElement.className") == "old"
    own_page.find("#banner summary").click()
    own_page.see("was stopped", "#banner")
    own_page.errors()
