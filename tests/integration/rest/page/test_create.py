"""A new connector on the page."""

from __future__ import annotations

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
    page.see("settings need attention")
    assert not page.all(".field .error")
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
    page.see("settings need attention")
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
