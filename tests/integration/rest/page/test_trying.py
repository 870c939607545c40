"""Previews and replays on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support import unique
from tests.support.control import StartedRuns, control_plane, plane_with_runs
from tests.support.kafka import create_topic, produce
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.page_server import PageServer
from tests.support.registered import Registered, dead_letter

# Spark starts for a preview.
PATIENCE_S = 120.0
CHAIN = {
    "connector.class": "DirectorySink",
    "directory": "/lake",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "flat,empty,card",
    "transforms.flat.type": "org.apache.kafka.connect.transforms.Flatten$Value",
    "transforms.flat.delimiter": "_",
    "transforms.card.type": "org.apache.kafka.connect.transforms.MaskField$Value",
    "transforms.card.fields": "customer_card",
    "transforms.card.replacement": "****",
    "transforms.empty.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.empty.predicate": "tombstone",
    "predicates": "tombstone",
    "predicates.tombstone.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}
ORDER = '{"id": 40112, "customer": {"name": "Ada", "card": "4111111111111111"}, "total": 12.5}'


@pytest.fixture(scope="module")
def sink(bootstrap: str, server: PageServer) -> str:
    """The topic of a sink `orders-lake`, with an order and a tombstone."""
    topic = unique("orders")
    create_topic(bootstrap, topic)
    produce(bootstrap, topic, [ORDER, None], key="40112", partition=0)
    letters = f"{topic}.dead-letters"
    create_topic(bootstrap, letters)
    dead_letter(bootstrap, letters, "orders-lake", {"id": 1}, "no number")
    handling = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    server.add(Registered("orders-lake", {**CHAIN, **handling, "topics": topic}, topics=(topic,)))
    return topic


def preview(page: ConnectorsPage) -> None:
    """Press the button of that tab; the tab itself has the same label."""
    page.find(".previewing .primary:enabled").click()


def test_why_the_next_records_of_a_source_are_not_shown(server: PageServer, page: ConnectorsPage) -> None:
    server.add(Registered("lines", {"connector.class": "FileStreamSource", "file": "/in.txt", "topic": "lines"}))
    page.open("#/connector/lines/preview")
    page.see("This server does not read its source: kconnect.preview.sources of the worker is false")
    assert page.find("#preview-of-sample").is_selected()
    assert "The next records it would read" not in page.text()


@pytest.mark.exhaustive
def test_the_latest_records_step_by_step(sink: str, page: ConnectorsPage, server: PageServer) -> None:
    """With changes that are not saved."""
    page.open("#/connector/orders-lake/configuration")
    page.fill(page.field("transforms.card.replacement"), "####")
    page.click("Preview")
    page.see("With the unsaved changes of the configuration")
    preview(page)
    page.see("The record is dropped here.", patience_s=PATIENCE_S)
    page.see("These are the unsaved changes.")
    assert [each.text for each in page.all(".preview h2")] == [f"{sink}-0@0", f"{sink}-0@1"]
    steps = page.all(".preview:nth-child(1) .steps li")
    assert [step.text.splitlines()[0] for step in steps] == [
        "Before",
        "Read by the converters",
        "flat Flatten$Value",
        "empty Filter, if tombstone",
        "card MaskField$Value",
    ]
    assert [mark.text.strip() for mark in page.all(".preview:nth-child(1) li:nth-child(5) mark")] == [
        '"customer_card": "####",'
    ]
    page.screenshot("connectors-preview")
    assert page.accessibility() == []
    assert server.plane.registered_config("orders-lake")["transforms.card.replacement"] == "****"


@pytest.mark.exhaustive
def test_what_a_source_would_read_next(server: PageServer, browser: webdriver.Chrome, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("first\nsecond\n")
    hoist = {"transforms": "h", "transforms.h.type": "HoistField$Value", "transforms.h.field": "line"}
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": "lines", **hoist}
    server.add(Registered("lines", config))
    props = {**server.props, "kconnect.preview.sources": "true"}
    with control_plane(props) as reading, served(create_app(lambda: reading, TokenPolicy(None))) as url:
        page = ConnectorsPage(browser, f"{url}/ui/")
        page.open("#/connector/lines/preview")
        page.see("The next records it would read")
        preview(page)
        page.see('"line": "second"', patience_s=PATIENCE_S)
        steps = [step.text.splitlines()[0] for step in page.all(".preview:nth-child(1) .steps li")]
        assert steps == ["Read from the source", "h HoistField$Value"]
        page.screenshot("connectors-preview-source")
        browser.get("about:blank")


@pytest.mark.exhaustive
def test_what_is_wrong_with_a_sample_is_shown(sink: str, page: ConnectorsPage) -> None:
    page.open("#/connector/orders-lake/preview")
    page.find(".previewing .primary:enabled")  # enabled once the connector is known
    page.find("#preview-of-sample").click()
    page.fill(page.find("#preview-value"), "{no json")
    preview(page)
    page.see("serialization error", ".preview .cause", PATIENCE_S)


@pytest.fixture
def starting(sink: str, server: PageServer, browser: webdriver.Chrome) -> Iterator[tuple[ConnectorsPage, StartedRuns]]:
    """The page of a server that starts runs, at the sink."""
    runs = StartedRuns()
    with plane_with_runs(server.plane, runs) as plane, served(create_app(lambda: plane, TokenPolicy(None))) as url:
        shown = ConnectorsPage(browser, f"{url}/ui/")
        shown.open("#/connector/orders-lake")
        yield shown, runs
        browser.get("about:blank")


def test_an_interval_is_replayed(starting: tuple[ConnectorsPage, StartedRuns]) -> None:
    page, runs = starting
    page.click("Replay")
    page.find("dialog .primary").click()
    page.see("From is missing", "dialog .error")
    for field, moment in (("from", "2026-01-01T00:00:00"), ("to", "2026-01-02T00:00:00")):
        page.script("document.getElementById(arguments[0]).value = arguments[1]", f"replay-{field}", moment)
    page.find("#replay-dry-run").click()
    page.screenshot("connectors-replay")
    page.find("dialog .primary").click()
    page.see("Run manual__1 is started", "#toasts")
    ((connector, params),) = runs.replays
    assert (connector, params["mode"], params["dry_run"]) == ("orders-lake", "replay", True)


def test_dead_letters_are_replayed(starting: tuple[ConnectorsPage, StartedRuns]) -> None:
    page, runs = starting
    page.click("Dead letters")
    page.see("1 record in")
    page.find("#panel button:nth-child(2)").click()
    page.find("dialog .primary").click()
    page.see("Run manual__1 is started", "#toasts")
    assert runs.replays == [("orders-lake", {"mode": "dead_letters", "dry_run": False})]


def test_without_runs_there_is_no_replay(sink: str, page: ConnectorsPage) -> None:
    page.open("#/connector/orders-lake")
    page.see("Idle", ".heading")
    assert "Replay" not in [each.text.strip() for each in page.all("button")]
