"""A headless Chromium that uses Airflow's pages like a person, and keeps a screenshot of each step."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import invisibility_of_element_located
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.databases.servers import install

SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    "--window-size=1400,1000",
    # One process for all pages: to start another one for each costs more than the pages do.
    *("--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process"),
    "--renderer-process-limit=1",
)


class Page:
    """An open browser."""

    def __init__(self, driver: webdriver.Chrome, screenshots: Path) -> None:
        self._driver, self._screenshots = driver, screenshots
        self._wait = WebDriverWait(driver, 60)

    def start_backfill(self, url: str, dag_id: str, begin: str, end: str) -> None:
        """Open a DAG's page and start a backfill of its runs between two points in time, `2026/01/01 04:00`."""
        self._driver.get(f"{url}/dags/{dag_id}")
        self._click("//button[@data-testid='trigger-dag-button']")
        self._click("//*[@role='dialog']//label[starts-with(., 'Backfill')]")
        for number, moment in ((1, begin), (2, end)):
            self._pick_moment(number, moment)
        self._screenshot("backfill-form")
        self._click("//*[@role='dialog']//button[text()='Run Backfill']")
        self._wait.until(lambda driver: not driver.find_elements(By.XPATH, "//label[starts-with(., 'Backfill')]"))
        self._screenshot("backfill-started")

    def _pick_moment(self, number: int, moment: str) -> None:
        """Fill in one of a dialog's date-time fields: it opens a small window with a date and a time."""
        field = f"(//*[@role='dialog']//*[@data-testid='datetime-input'])[{number}]"
        self._click(field)
        window = f"//*[@id='{self._find(field).get_attribute('aria-controls')}']"
        for hint, text in zip(("YYYY/MM/DD", "HH:mm"), moment.split(), strict=True):
            box = self._find(f"{window}//input[@placeholder='{hint}']")
            box.clear()
            box.send_keys(text)
        box.send_keys(Keys.ESCAPE)
        self._wait.until(invisibility_of_element_located((By.XPATH, window)))

    def _click(self, path: str) -> None:
        self._wait.until(lambda driver: self._find(path).is_enabled())
        self._find(path).click()

    def _find(self, path: str) -> WebElement:
        return self._wait.until(lambda driver: driver.find_element(By.XPATH, path))

    def _screenshot(self, name: str) -> None:
        self._driver.save_screenshot(str(self._screenshots / f"{name}.png"))


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Chromium with an empty profile.

    :raises RuntimeError: it is not installed and cannot be installed.
    """
    if shutil.which("chromedriver") is None and not (install("chromium") and install("chromium-driver")):
        raise RuntimeError("Chromium is needed: install it (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*_FLAGS, f"--user-data-dir={profile / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def opened(profile: Path) -> Iterator[Page]:
    """A browser with an empty profile. Screenshots are kept in `build/screenshots`.

    :raises RuntimeError: see `chromium`.
    """
    with chromium(profile) as driver:
        yield Page(driver, SCREENSHOTS)
