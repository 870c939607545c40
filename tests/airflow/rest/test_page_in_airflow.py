"""The Connectors page inside Airflow's own UI, in a browser: a connector is paused, and there after a reload."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from selenium.webdriver.common.by import By

from tests.airflow.rest.conftest import PATIENCE_S
from tests.support.pages.connectors_page import ConnectorsPage


@pytest.mark.timeout(300)
def test_the_page_is_used_in_airflows_frame(
    name: str, log_in: Callable[[str], ConnectorsPage], server: httpx.Client, tokens: dict[str, dict[str, str]]
) -> None:
    page = log_in("ada")
    driver = page.driver
    page.press("a[href$='plugin/connectors']")
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
    status = server.get(f"/kconnect/connectors/{name}/status", headers=tokens["viewer"])
    assert status.json()["connector"]["state"] == "PAUSED"
