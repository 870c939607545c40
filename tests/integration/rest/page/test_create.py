"""A new connector on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import Select
from starlette.requests import Request

from airflow_kconnect.rest.access import Everything
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns
from airflow_kconnect.stores.target_states import TargetState
from tests.support.control import control_plane
from tests.support.databases.servers import SqliteDatabase
from tests.support.pages.connectors_page import ConnectorsPage, served, watched_page
from tests.support.pages.page_server import PageServer
from tests.support.registered import Registered

# A process connects.
PATIENCE_S = 120.0
FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
JDBC = "io.confluent.connect.jdbc.JdbcSourceConnector"


def choose(page: ConnectorsPage, connector_class: str) -> None:
    """Begin a new connector of this class, of the classes that are shown."""
    page.until(
        lambda: next((each for each in page.all(".plugin") if connector_class in each.text), None), "not offered"
    ).click()


def test_errors_then_success(page: ConnectorsPage, server: PageServer) -> None:
    page.open("#/new")
    page.see("keys of Aiven's")
    sources = [card.text for card in page.all("section[aria-label='Sources'] .plugin")]
    assert "Usual choice" in sources[0]
    assert sum(JDBC in text for text in sources) == 1
    choose(page, "FileStreamSourceConnector")
    page.see("3 required settings", ".form-summary")
    assert not page.all(".field .error, .form-summary.bad")
    page.fill(page.field("name"), "created")
    page.fill(page.field("topic"), "lines")
    page.click("Create")
    page.see("exactly one of file and files is needed", "[id='field-file-error']")
    page.fill(page.field("file"), "/data/in.txt")
    page.see("Everything is valid")
    Select(page.find("#initial-state")).select_by_value("PAUSED")
    page.click("Create")
    page.see("Paused", ".heading")
    assert server.plane.registered_config("created")["file"] == "/data/in.txt"
    assert server.plane.registered()["created"].target_state is TargetState.PAUSED


def test_a_transformation_brings_its_settings(page: ConnectorsPage) -> None:
    page.open(f"#/new/{FILE}")
    page.see("required settings")
    page.find("[aria-label='Find a setting']").send_keys("transforms")
    page.fill(page.field("transforms"), "route")
    page.fill(page.field("transforms.route.type"), "RegexRouter")
    page.fill(page.field("transforms.route.regex"), "(")
    page.see("missing ')'", "[id='field-transforms.route.regex-error']")


def test_a_key_that_is_not_defined_and_a_name_that_exists(page: ConnectorsPage, server: PageServer) -> None:
    server.plane.create("taken", {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"})
    page.open(f"#/new/{FILE}")
    for key, value in (("name", "taken"), ("topic", "t"), ("file", "/data/in.txt")):
        page.fill(page.field(key), value)
    page.find("#new-key").send_keys("producer.override.linger.ms\n")
    page.fill(page.find("[id='other-producer.override.linger.ms']"), "5")
    page.click("Create")
    page.see("Connector taken already exists", ".savebar")
    page.fill(page.field("name"), "lingering")
    page.see("Everything is valid")
    page.click("Create")
    page.see("Never run", ".heading")
    assert server.plane.registered_config("lingering")["producer.override.linger.ms"] == "5"


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
    jdbc.fill(jdbc.field("connection.url"), "jdbc:postgresql://shop:geheim@db/shop")
    jdbc.fill(jdbc.field("name"), "orders")
    jdbc.driver.refresh()
    jdbc.until(lambda: jdbc.field("name").get_attribute("value") == "orders", "the name is not kept")
    kept = [jdbc.field(key).get_attribute("value") for key in ("topic.prefix", "connection.password")]
    assert kept == ["shop-", ""]
    assert "geheim" not in jdbc.script("return JSON.stringify(sessionStorage)")


def test_what_a_connector_ran_with_is_registered(page: ConnectorsPage, server: PageServer) -> None:
    """Its secrets, and what was too long to be kept, are typed again."""
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": "jdbc:sqlite:/shop.db",
        "connection.password": "[hidden]",
        "topics": "orders",
    }
    ran = {**config, "note": "n" * 3_000}
    runs = ConnectorRuns(ran, config["connector.class"], "sink", ("orders",), "connect-shop", None, ())
    server.add(Registered("shop", {}, runs=runs, registered=False))
    page.open("#/new?from=shop")
    page.see("give the value", "[id='field-connection.password-error']")
    page.see("give the value", "[id='other-note-error']")
    page.click("Create")
    page.see("is [hidden]", ".savebar .error")
    page.fill(page.field("connection.password"), "geheim")
    remove = page.button("Remove")
    page.script("arguments[0].scrollIntoView({block: 'center'})", remove)
    remove.click()
    page.see("Everything is valid")
    page.click("Create")
    page.see("is created", "#toasts")
    assert server.plane.registered_config("shop") == {**config, "name": "shop", "connection.password": "geheim"}


@pytest.fixture
def connecting(server: PageServer, browser: webdriver.Chrome) -> Iterator[ConnectorsPage]:
    """The page of a server that may connect to databases, and offers connections of Airflow."""
    props = {**server.props, "kconnect.preview.sources": "true"}
    with (
        control_plane(props) as plane,
        served(create_app(lambda: plane, WithConnections())) as url,
        watched_page(browser, f"{url}/ui/") as shown,
    ):
        yield shown


def try_connection(page: ConnectorsPage) -> None:
    """Press the button, wherever the page is scrolled to."""
    run = page.button("Test the connection")
    page.script("arguments[0].scrollIntoView({block: 'center'})", run)
    run.click()


class WithConnections(Everything):
    """A caller as in Airflow."""

    def caller(self, request: Request) -> WithConnections:
        """See `AccessPolicy`."""
        return self

    def databases(self) -> list[dict[str, str]]:
        """See `NamesDatabases`."""
        return [{"conn_id": "warehouse", "conn_type": "postgres"}]


def test_a_connection_of_airflow_is_taken(connecting: ConnectorsPage) -> None:
    connecting.open("#/new/io.confluent.connect.jdbc.JdbcSinkConnector")
    Select(connecting.find("[aria-label='Take a connection of Airflow']")).select_by_value("warehouse")
    assert connecting.field("connection.url").get_attribute("value") == "${airflow:warehouse:jdbc_url}"
    assert connecting.accessibility() == []


HOLD_VALIDATIONS = """
    const fetched = window.fetch;
    const released = new Promise((release) => (window.release = release));
    window.fetch = async (url, ...rest) => {
        if (String(url).includes("/validate")) await released;
        return fetched(url, ...rest);
    };
"""


def test_what_a_test_of_the_connection_finds_is_at_its_setting_and_tables_and_columns_are_offered(
    connecting: ConnectorsPage, tmp_path: Path
) -> None:
    """On a slow server a connection may be tested before the last change is validated."""
    db = SqliteDatabase.create(tmp_path)
    db.execute("create table orders (id integer primary key, at timestamp)")
    db.execute("create table customers (number integer primary key)")
    connecting.open(f"#/new/{JDBC}")
    connecting.fill(connecting.field("connection.url"), f"jdbc:sqlite:{tmp_path}/no/such.db")
    try_connection(connecting)
    connecting.see("Give the connector a name first")
    connecting.fill(connecting.field("name"), "orders")
    try_connection(connecting)
    connecting.see("such.db", "[id='field-connection.url-error']", PATIENCE_S)
    connecting.fill(connecting.field("connection.url"), db.url)
    connecting.button("Test the connection")
    connecting.script(HOLD_VALIDATIONS)
    Select(connecting.field("mode")).select_by_value("timestamp")
    try_connection(connecting)
    connecting.see("It has 2 tables to choose from", patience_s=PATIENCE_S)
    assert not connecting.all("[id='field-connection.url-error']")
    connecting.script("window.release()")
    Select(connecting.find("[aria-label='Add to table.whitelist']")).select_by_value("orders")
    Select(connecting.find("[aria-label='Add to timestamp.column.name']")).select_by_value("at")
    assert connecting.field("table.whitelist").get_attribute("value") == "orders"
    assert connecting.field("timestamp.column.name").get_attribute("value") == "at"
    connecting.screenshot("connectors-new-offered")
    assert connecting.accessibility() == []
