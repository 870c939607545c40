"""A new connector on the page."""

from __future__ import annotations

import pytest
from selenium.webdriver.support.ui import Select

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.stores.target_states import TargetState
from tests.support.pages.connectors_page import ConnectorsPage


def choose(page: ConnectorsPage, connector_class: str) -> None:
    """Begin a new connector of this class."""
    page.open("#/new")
    page.until(
        lambda: next((each for each in page.all(".plugin") if connector_class in each.text), None), "not offered"
    ).click()


def test_errors_then_success(page: ConnectorsPage, plane: ControlPlane) -> None:
    choose(page, "FileStreamSourceConnector")
    page.see("3 required settings", ".form-summary")
    assert not page.all(".field .error, .form-summary.bad")
    page.fill(page.field("name"), "lines")
    page.fill(page.field("topic"), "lines")
    page.click("Create")
    page.see("exactly one of file and files is needed", "[id='field-file-error']")
    page.fill(page.field("file"), "/data/in.txt")
    page.see("Everything is valid")
    Select(page.find("#initial-state")).select_by_value("PAUSED")
    page.click("Create")
    page.see("Paused", ".heading")
    assert plane.registered_config("lines")["file"] == "/data/in.txt"
    assert plane.registered()["lines"].target_state is TargetState.PAUSED


def test_a_transformation_brings_its_settings(page: ConnectorsPage) -> None:
    choose(page, "FileStreamSourceConnector")
    page.see("required settings")
    page.find("[aria-label='Find a setting']").send_keys("transforms")
    page.fill(page.field("transforms"), "route")
    page.fill(page.field("transforms.route.type"), "RegexRouter")
    page.fill(page.field("transforms.route.regex"), "(")
    page.see("missing ')'", "[id='field-transforms.route.regex-error']")


def test_a_key_that_is_not_defined(page: ConnectorsPage, plane: ControlPlane) -> None:
    choose(page, "FileStreamSourceConnector")
    for key, value in (("name", "lines"), ("topic", "t"), ("file", "/data/in.txt")):
        page.fill(page.field(key), value)
    page.find("#new-key").send_keys("producer.override.linger.ms\n")
    page.fill(page.find("[id='other-producer.override.linger.ms']"), "5")
    page.see("Everything is valid")
    page.click("Create")
    page.see("Running", ".heading")
    assert plane.registered_config("lines")["producer.override.linger.ms"] == "5"


def test_a_name_that_exists_is_refused(page: ConnectorsPage, plane: ControlPlane) -> None:
    plane.create("lines", {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"})
    choose(page, "FileStreamSourceConnector")
    for key, value in (("name", "lines"), ("topic", "t"), ("file", "/data/in.txt")):
        page.fill(page.field(key), value)
    page.click("Create")
    page.see("Connector lines already exists", ".savebar")


JDBC = "io.confluent.connect.jdbc.JdbcSourceConnector"


@pytest.fixture
def jdbc(page: ConnectorsPage) -> ConnectorsPage:
    """The form of a JDBC source."""
    page.open(f"#/new/{JDBC}")
    page.see("required settings", ".form-summary")
    return page


def test_a_mode_is_chosen_and_brings_its_columns(jdbc: ConnectorsPage) -> None:
    """Keys without effect are together at the end."""
    mode = Select(jdbc.field("mode"))
    assert [option.text for option in mode.options][:2] == ["choose …", "bulk"]
    assert not jdbc.all("[id='field-timestamp.column.name']")
    mode.select_by_value("timestamp")
    assert jdbc.field("timestamp.column.name").get_attribute("placeholder") == "updated_at"
    assert not jdbc.all("[id='field-incrementing.column.name']")
    assert jdbc.all(".group h2")[-2].text == "Without effect"
    jdbc.screenshot("connectors-new-jdbc-light")
    jdbc.theme("dark")
    jdbc.screenshot("connectors-new-jdbc-dark")
    assert jdbc.accessibility() == []


def test_what_was_typed_survives_a_reload_except_secrets(jdbc: ConnectorsPage) -> None:
    jdbc.fill(jdbc.field("topic.prefix"), "shop-")
    jdbc.fill(jdbc.field("connection.password"), "geheim")
    jdbc.fill(jdbc.field("name"), "orders")
    jdbc.driver.refresh()
    jdbc.until(lambda: jdbc.field("name").get_attribute("value") == "orders", "the name is not kept")
    kept = [jdbc.field(key).get_attribute("value") for key in ("topic.prefix", "connection.password")]
    assert kept == ["shop-", ""]
    assert "geheim" not in jdbc.script("return JSON.stringify(sessionStorage)")
    jdbc.open("#/new")
    jdbc.script("sessionStorage.clear()")


def test_classes_say_what_tells_them_apart(page: ConnectorsPage) -> None:
    page.open("#/new")
    page.see("keys of Aiven's")
    sources = [card.text for card in page.all("section[aria-label='Sources'] .plugin")]
    assert "Usual choice" in sources[0]
    assert sum("io.confluent.connect.jdbc.JdbcSourceConnector" in text for text in sources) == 1
