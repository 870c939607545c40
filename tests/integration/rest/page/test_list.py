"""The list of connectors: filter, states, sorting, keyboard, refresh."""

from __future__ import annotations

import time
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.target_states import TargetState
from tests.support.pages.connectors_page import ConnectorsPage
from tests.support.registered import Registered, WorkerTopics

REFRESH_S = 5.0
FILE = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


def _press(page: ConnectorsPage, *keys: Any) -> None:
    for key in keys:
        ActionChains(page.driver).send_keys(key).perform()


@pytest.fixture
def three(page: ConnectorsPage, topics: WorkerTopics) -> ConnectorsPage:
    """The page with three connectors."""
    topics.add(
        Registered("a", FILE, State.RUNNING, age_s=300),
        Registered("b", FILE, State.FAILED, (State.FAILED,), "ConnectException: no such file"),
        Registered("c", {**FILE, "connector.class": "DirectorySink", "topics": "t"}, State.PAUSED, age_s=60),
    )
    page.open()
    page.see_names("a", "b", "c")
    return page


def test_an_empty_list_says_what_to_do_first(page: ConnectorsPage) -> None:
    page.open()
    page.see("No connectors yet")
    page.click("Create a connector")
    page.see("Which connector?")


def test_filter(three: ConnectorsPage) -> None:
    three.find("#filter").send_keys("directory")
    three.see_names("c")


def test_a_filter_without_matches_can_be_cleared(three: ConnectorsPage) -> None:
    three.find("#filter").send_keys("nothing like this")
    three.click("Show all")
    three.see_names("a", "b", "c")


def test_states_are_counted_and_chosen(three: ConnectorsPage) -> None:
    chip = three.find(".chip.failed")
    assert chip.text.split() == ["Failed", "1"]
    chip.click()
    three.see_names("b")


def test_a_failed_connector_says_why(three: ConnectorsPage) -> None:
    three.see("no such file", "tbody")


def test_sorting(three: ConnectorsPage) -> None:
    three.find(".column-changed button").click()
    three.see_names("b", "c", "a")
    three.find(".column-changed button").click()
    three.see_names("a", "c", "b")


def test_slash_goes_to_the_filter(three: ConnectorsPage) -> None:
    _press(three, "/", "b")
    three.see_names("b")


def test_arrows_go_through_the_rows_and_enter_opens_one(three: ConnectorsPage) -> None:
    _press(three, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    three.see("b", "h1")


def test_a_refresh_shows_changes_and_leaves_the_focus(three: ConnectorsPage, plane: ControlPlane) -> None:
    _press(three, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    plane.delete("a")
    plane.set_target_state("b", TargetState.PAUSED)
    three.see_names("b", "c")
    three.see("Paused\n2", ".chip.paused")
    assert three.focused() == "b"


def received(page: ConnectorsPage) -> list[int]:
    """The bytes of each answer with connectors so far."""
    answers = "performance.getEntriesByType('resource').filter((each) => each.name.includes('/v1/connectors'))"
    return list(page.script(f"return {answers}.map((each) => each.transferSize)"))


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
        asked = len(received(three))
        time.sleep(REFRESH_S + 1)
        assert len(received(three)) == asked
    finally:
        driver.switch_to.window(other)
        driver.close()
        driver.switch_to.window(tab)
    driver.execute_cdp_cmd("Target.activateTarget", {"targetId": tab})
    three.until(lambda: len(received(three)) > asked, "the page does not ask again")


def test_changes_are_said_to_screen_readers(three: ConnectorsPage, plane: ControlPlane) -> None:
    plane.set_target_state("a", TargetState.STOPPED)
    said = "return document.getElementById('announcer').textContent"
    three.until(lambda: three.script(said) == "a: stopped", "the change is not announced")


def test_the_lag_of_a_sink_comes_by_itself(shop: ConnectorsPage) -> None:
    shop.open()
    row = "[...document.querySelectorAll('tbody tr')].find((row) => row.textContent.includes('returns-lake'))"
    lag = f"return {row}.cells[5].textContent"
    shop.find("tbody tr")
    shop.until(lambda: shop.script(lag) == "5", "the lag is not shown")


def test_the_error_of_the_server_is_shown(page: ConnectorsPage, plane: ControlPlane) -> None:
    page.open()
    page.see("No connectors yet")
    plane.close()
    page.see("does not answer: this is as of", "#banner")
    page.find("#banner summary").click()
    page.see("was stopped", "#banner")
    page.errors()
