"""A connector of a Java class, created on the page: from the form to the records that its run moves.

It needs more than 20 CPU seconds: a browser, the JVM that answers for the class, and the worker of the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.support.ui import Select

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.hosted.asking.warm import WARM
from tests.integration.rest.page.test_create import choose
from tests.support import unique
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.kafka import read_values
from tests.support.pages.connectors_page import ConnectorsPage
from tests.support.pages.page_server import PageServer, page_server

# Java starts for the first answer.
PATIENCE_S = 60.0
STRING = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def own_server(bootstrap: str, tmp_path: Path) -> Iterator[PageServer]:
    """Finds Kafka's Java file connectors; the JVM that answers for them ends with the test."""
    with page_server(bootstrap, **{"plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))}) as server:
        yield server
    WARM.close()


def run_registered(plane: ControlPlane, name: str, folder: Path) -> None:
    """Run a registered connector, as `kconnect run` does."""
    connector, worker = folder / "connector.json", folder / "worker.properties"
    connector.write_text(json.dumps(plane.registered_config(name)))
    worker.write_text("".join(f"{key}={value}\n" for key, value in plane.worker_props.items()))
    command = [str(Path(sys.executable).with_name("kconnect")), "run", str(connector), "--worker", str(worker)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_from_the_form_to_records(
    own_page: ConnectorsPage, own_server: PageServer, bootstrap: str, tmp_path: Path
) -> None:
    page, plane = own_page, own_server.plane
    lines, topic = tmp_path / "in.txt", unique("t")
    lines.write_text("one\ntwo\nthree\n")
    page.open("#/new")
    choose(page, "FileStreamSourceConnector")
    page.fill(page.field("name"), "lines")
    page.fill(page.field("topic"), topic)
    page.find("[aria-label='Find a setting']").send_keys("kconnect.hosted")
    Select(page.field("kconnect.hosted")).select_by_value("true")
    # The Java class has fewer keys, with texts of its own; what was entered stays.
    page.until(lambda: not page.driver.find_elements("id", "field-files"), "the form keeps its old keys", PATIENCE_S)
    page.fill(page.find("[aria-label='Find a setting']"), "file")
    page.see("Source filename. If not specified, the standard input will be used", "[id='field-file-help']")
    page.fill(page.field("file"), str(lines))
    page.fill(page.find("[aria-label='Find a setting']"), "")
    assert page.field("topic").get_attribute("value") == topic
    page.fill(page.field("topic"), " ")
    page.see("topic", "[id='field-topic-error']")
    page.fill(page.field("topic"), topic)
    page.find("#new-key").send_keys("value.converter\n")
    page.fill(page.field("value.converter"), STRING)
    page.see("Everything is valid")
    page.click("Create")
    page.see("Never run", ".heading")
    assert plane.registered_config("lines")["kconnect.hosted"] == "true"

    run_registered(plane, "lines", tmp_path)
    assert read_values(bootstrap, topic) == [b"one", b"two", b"three"]
    page.click("Offsets")
    page.see("position")
