"""One connector on the page: what can be done to it, its configuration, offsets, dead letters."""

from __future__ import annotations

import json

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains

from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import plane_with_runs
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.page_server import PageServer
from tests.support.pages.shop_runs import Remembering, failed, of_dag, run, told
from tests.support.registered import Registered

URL = "jdbc:postgresql://db/shop"
CONFIG = {
    "connector.class": "JdbcSource",
    "connection.url": URL,
    "connection.password": "geheim",
    "mode": "bulk",
    "topic.prefix": "shop.",
}
OFFSET = ({"protocol": "1", "table": "orders"}, {"incrementing": 7})


@pytest.fixture
def orders(page: ConnectorsPage, server: PageServer) -> ConnectorsPage:
    """The page with a source `orders`, open at it; what an earlier test has done to it is undone."""
    server.add(Registered("orders", CONFIG, topics=("shop.orders",), offsets=(OFFSET,)))
    page.open("#/connector/orders")
    page.see("Idle", ".heading")
    return page


def test_it_is_restarted_paused_resumed_and_stopped(orders: ConnectorsPage) -> None:
    orders.click("Restart")
    orders.see("orders is restarted", "#toasts")
    orders.click("Pause")
    orders.see("Paused", ".heading")
    orders.click("Resume")
    orders.see("Idle", ".heading")
    orders.click("Stop")
    orders.see("Stopped", ".heading")


def test_deleting_asks_for_the_name_and_can_be_cancelled(orders: ConnectorsPage, server: PageServer) -> None:
    orders.click("Delete")
    orders.click("Cancel")
    assert "orders" in server.plane.names()
    orders.click("Delete")
    accept = orders.find("dialog .danger")
    assert not accept.is_enabled()
    orders.find("dialog input").send_keys("orders")
    accept.click()
    orders.see("Connectors", "h1")
    assert "orders" not in server.plane.names()


def test_a_setting_is_validated_as_it_is_typed_and_saved_with_the_secrets_as_they_were(
    orders: ConnectorsPage, server: PageServer
) -> None:
    orders.click("Configuration")
    orders.see("Everything is valid")
    values = orders.script("return [...document.querySelectorAll('input')].map((each) => each.value)")
    assert "geheim" not in f"{values}{orders.driver.page_source}"
    orders.fill(orders.field("tasks.max"), "none")
    orders.see("1 setting needs attention")
    orders.see("Not a number", "[id='field-tasks.max-error']")
    orders.fill(orders.field("tasks.max"), "3")
    orders.see("Everything is valid")
    orders.click("Connectors")
    orders.see("Discard your changes?")
    orders.click("Cancel")
    orders.click("Save")
    orders.see("is saved", "#toasts")
    assert server.plane.registered_config("orders") == {**CONFIG, "name": "orders", "tasks.max": "3"}


def test_the_configuration_as_json(orders: ConnectorsPage, server: PageServer) -> None:
    orders.click("Configuration")
    orders.see("Everything is valid")
    orders.find("label[for='as-json']").click()
    area = orders.find("#json")
    config = json.loads(area.get_attribute("value") or "")
    orders.fill(area, "{")
    orders.see("JSON", "#json-error")
    orders.fill(area, json.dumps({**config, "producer.override.linger.ms": "5"}))
    orders.click("Save")
    orders.see("is saved", "#toasts")
    orders.until(
        lambda: server.plane.registered_config("orders").get("producer.override.linger.ms") == "5", "not saved"
    )


def test_offsets_are_edited_and_reset_when_it_is_stopped_and_what_is_refused_stays_in_the_dialog(
    orders: ConnectorsPage, server: PageServer
) -> None:
    orders.click("Offsets")
    orders.see('{"incrementing":7}', "tbody")
    orders.click("Stop the connector")
    orders.click("Edit")
    orders.fill(orders.find("#offset-offset"), "[1")
    orders.click("Save")
    orders.see("Offset", "dialog .error")
    orders.fill(orders.find("#offset-offset"), '{"incrementing": 3}')
    orders.click("Save")
    orders.see('{"incrementing":3}', "tbody")
    assert server.plane.offsets("orders")["offsets"][0]["offset"] == {"incrementing": 3}
    orders.click("Reset all")
    orders.click("Reset")
    orders.see("No offsets yet")
    assert server.plane.offsets("orders") == {"offsets": []}


def test_topics_are_listed_and_forgotten(orders: ConnectorsPage, server: PageServer) -> None:
    orders.click("Topics")
    orders.see("shop.orders", "tbody")
    orders.click("Forget these topics")
    orders.click("Forget")
    orders.see("No topics yet")
    assert server.plane.topics("orders") == {"orders": {"topics": []}}
    orders.script("document.getElementById('tab-overview').focus()")
    orders.driver.switch_to.active_element.send_keys("\ue014")
    orders.until(lambda: orders.focused() == "Runs", "the arrow does not go to the next tab")


def test_an_offset_that_is_a_time_has_its_date(shop: ConnectorsPage) -> None:
    shop.open("#/connector/orders-db/offsets")
    shop.see("timestamp: 23 Nov 2025", "tbody")


def test_dead_letters_are_shown_on_demand(shop: ConnectorsPage) -> None:
    shop.open("#/connector/orders-warehouse/dead-letters")
    shop.see("3 records in orders-warehouse.dead-letters: none replayed yet")
    assert not shop.all(".letter")
    shop.click("Show the last ones")
    shop.see('"customer": 40112', ".letter")


def test_a_connector_that_does_not_exist(page: ConnectorsPage) -> None:
    page.open("#/connector/nope")
    page.see("Connector nope not found", "#banner")


LETTERS_LOST = {"read": 9, "written": 0, "filtered": 0, "dead_lettered": 9}


@pytest.fixture
def pills(page: ConnectorsPage, server: PageServer) -> ConnectorsPage:
    """The page with a sink that has lost all records of its last run; nothing else is known of it than its runs."""
    runs = [
        run(60, 12, 9, records=LETTERS_LOST, warnings=("9 records became dead letters", "`tasks.max` is too high")),
        run(7200, 3, 40, replay="2026-11-01 to 2026-11-02"),
        failed(9000, 1, "the table is locked"),
    ]
    config = {"connector.class": "JdbcSink", "connection.password": "[hidden]", "topics": "pills"}
    known = told(of_dag(runs, "pharmacy", "write"), config, "sink", "pills", group="connect-pills")
    server.add(Registered("pills", config, runs=known, registered=False))
    return page


def test_the_last_run_is_told_and_runs_are_bars_with_an_axis_that_tell_their_numbers(pills: ConnectorsPage) -> None:
    """It is not registered, and can be."""
    pills.open("#/connector/pills")
    pills.see("9 read, 9 dead-lettered\nSucceeded · 12 s · 1 min ago", ".fact.attention")
    pills.see("12 s\n0 s", ".axis")
    bars = pills.all(".runs .place")
    labels = [(bar.get_attribute("aria-label") or "").split(", ", 2)[2] for bar in bars]
    assert labels == [
        "failed, 1 s, no records",
        "succeeded, replay of 2026-11-01 to 2026-11-02, 3 s, 40 read, 40 written",
        "succeeded, 12 s, 9 read, 9 dead-lettered",
    ]
    ActionChains(pills.driver).move_to_element(bars[0]).perform()
    pills.see("failed, 1 s, no records", ".numbers")
    pills.see("it is configured in DAG pharmacy · write", ".note")
    assert not pills.all(".actions button")
    assert [tab.text for tab in pills.all("[role='tab']")] == [
        *("Overview", "Runs", "Configuration", "Offsets", "Topics", "Dead letters")
    ]
    assert (pills.button("Register").get_attribute("href") or "").endswith("#/new?from=pills")


def test_runs_are_a_table_with_their_warnings(pills: ConnectorsPage) -> None:
    pills.open("#/connector/pills/runs")
    pills.see("the table is locked", ".past")
    pills.see("replay of 2026-11-01 to 2026-11-02", ".past")
    pills.find(".past summary").click()
    pills.see("tasks.max is too high", ".past")
    numbers = (
        "return [...document.querySelector('.past tbody tr').querySelectorAll('.number')].map((e) => e.textContent)"
    )
    assert pills.script(numbers) == ["12 s", "9", "0", "0", "9"]


def test_runs_that_are_remembered_link_to_their_logs(server: PageServer, browser: webdriver.Chrome) -> None:
    server.add(Registered("orders", CONFIG))
    with (
        plane_with_runs(server.plane, Remembering()) as plane,
        served(create_app(lambda: plane, TokenPolicy(None))) as url,
    ):
        shown = ConnectorsPage(browser, f"{url}/ui/")
        shown.open("#/connector/orders/runs")
        shown.see("Queued", ".past")
        links = [each.get_attribute("href") for each in shown.all(".runs a, .past a")]
        browser.get("about:blank")
    assert links == [f"{url}/dags/kconnect.orders/runs/b/tasks/run"] * 2


def test_a_token_is_asked_for_and_kept(server: PageServer, browser: webdriver.Chrome) -> None:
    server.add(Registered("orders", CONFIG))
    with served(create_app(lambda: server.plane, TokenPolicy("geheim"))) as url:
        shown = ConnectorsPage(browser, f"{url}/ui/")
        shown.open()
        shown.see("Token needed")
        shown.find("#token").send_keys("geheim")
        shown.click("Continue")
        shown.see("orders", "tbody")
        browser.refresh()
        shown.see("orders", "tbody")
        browser.get("about:blank")
    shown.errors()
