"""A Java connector on the page: its form is made from the class's own definitions, and what was created runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.support.ui import Select

from airflow_kconnect.connect.run import RunSpec
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.runtime.job import run
from tests.integration.rest.page.test_create import choose
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.control import control_worker
from tests.support.kafka import read_values
from tests.support.pages.connectors_page import ConnectorsPage

pytestmark = pytest.mark.exhaustive

STRING = "org.apache.kafka.connect.storage.StringConverter"
# A JVM starts for the first answer.
PATIENCE_S = 120.0


@pytest.fixture
def control_props(bootstrap: str, tmp_path: Path) -> dict[str, str]:
    """Of a worker that has Kafka's Java file connectors."""
    return control_worker(bootstrap, **{"plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))})


def test_a_java_connector_is_created_and_runs(
    page: ConnectorsPage, plane: ControlPlane, control_props: dict[str, str], bootstrap: str, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("first\nsecond\n")
    choose(page, "FileStreamSourceConnector")
    page.see("settings need attention")
    search = page.find("[aria-label='Find a setting']")
    search.send_keys("kconnect.hosted")
    Select(page.field("kconnect.hosted")).select_by_value("true")
    page.fill(search, "file")
    page.see("the standard input will be used", patience_s=PATIENCE_S)
    page.fill(search, "batch.size")
    page.fill(page.field("batch.size"), "many")
    page.see("Invalid value many for configuration batch.size", "[id='field-batch.size-error']", PATIENCE_S)
    settings = {
        "batch.size": "10",
        "kconnect.hosted.idle.ms": "1000",
        "value.converter": STRING,
        "name": "lines",
        "topic": f"{control_props['group.id']}-lines",
        "file": str(tmp_path / "in.txt"),
    }
    for key, text in settings.items():
        page.fill(search, key)
        page.fill(page.field(key), text)
    page.see("Everything is valid", patience_s=PATIENCE_S)
    page.screenshot("connectors-java")
    page.click("Create")
    page.see("source · FileStreamSourceConnector", patience_s=PATIENCE_S)
    assert run(RunSpec(plane.registered_config("lines"), control_props)).records["written"] == 2
    assert read_values(bootstrap, settings["topic"]) == [b"first", b"second"]
