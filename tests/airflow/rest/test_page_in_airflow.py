"""The Connectors page inside Airflow's own UI, in a browser: a connector is paused, and there after a reload."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.by import By

from tests.airflow.conftest import PASSWORDS
from tests.support import unique
from tests.support.pages.browser import chromium
from tests.support.pages.connectors_page import ConnectorsPage

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
PATIENCE_S = 60.0


@pytest.mark.timeout(300)
def test_the_page_is_used_in_airflows_frame(airflow_url: str, connections: None, tmp_path: Path) -> None:
    name = unique("connector")
    created = httpx.post(
        f"{airflow_url}/kconnect/connectors",
        json={"name": name, "config": CONFIG},
        auth=("ada", PASSWORDS["ada"]),
        timeout=60,
    )
    assert created.status_code == 201
    with chromium(tmp_path) as driver:
        page = ConnectorsPage(driver, airflow_url)
        driver.get(f"{airflow_url}/auth/login")
        page.until(lambda: len(page.all("input")) >= 2, "there is no login form", PATIENCE_S)
        for field, text in zip(page.all("input"), ("ada", PASSWORDS["ada"]), strict=False):
            field.send_keys(text)
        page.find("button[type='submit'], form button, button").click()
        page.until(lambda: page.all("a[href$='plugin/connectors']"), "Airflow's navigation has no page", PATIENCE_S)
        page.find("a[href$='plugin/connectors']").click()
        page.until(lambda: page.all("iframe"), "there is no frame", PATIENCE_S)
        page.screenshot("connectors-in-airflow")
        driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
        page.see(name, patience_s=PATIENCE_S)
        page.click(name)
        page.click("Pause")
        page.see("Paused", ".heading")
        page.screenshot("connector-in-airflow")
        driver.switch_to.default_content()
        assert driver.current_url.endswith(f"#/connector/{name}")
        driver.refresh()
        page.until(lambda: page.all("iframe"), "there is no frame after a reload", PATIENCE_S)
        driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
        page.see("Paused", ".heading", PATIENCE_S)
    status = httpx.get(f"{airflow_url}/kconnect/connectors/{name}/status", auth=("ada", PASSWORDS["ada"]), timeout=60)
    assert status.json()["connector"]["state"] == "PAUSED"
