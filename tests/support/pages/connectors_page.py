"""The Connectors page in a browser: what a person sees and does there."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.remote.webelement import WebElement

from tests.support.pages.browser import SCREENSHOTS

_PATIENCE_S = 60.0
# Of all elements at once: WebDriver's own questions about one element take a hundred times as long.
_IS_VISIBLE = (
    "(e) => e.getClientRects().length > 0 && e.checkVisibility({opacityProperty: true, visibilityProperty: true})"
)


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The app on a free port of this machine; the URL of its root."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while not server.started:
            assert thread.is_alive() and time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://localhost:{port}"
    finally:
        server.should_exit = True
        thread.join()


class ConnectorsPage:
    """The page of one server.

    :param url: of the page.
    """

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, path: str = "") -> None:
        """Load the page, at a view: `#/new`, `#/connector/orders`."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}{path}")

    def find(self, css: str) -> WebElement:
        """The visible element, once it is there."""
        element: WebElement = self.until(lambda: next(iter(self.all(css)), None), f"nothing matches {css}")
        return element

    def all(self, css: str) -> list[WebElement]:
        """The visible elements."""
        found = f"[...document.querySelectorAll(arguments[0])].filter({_IS_VISIBLE})"
        elements: list[WebElement] = self.script(f"return {found}", css)
        return elements

    def button(self, label: str) -> WebElement:
        """The button or link with this label, of the open dialog if there is one."""

        every = "document.querySelectorAll(':is(dialog[open], body:not(:has(dialog[open]))) :is(button, a)')"
        wanted = f"(e) => e.innerText.trim() === arguments[0] && !e.disabled && ({_IS_VISIBLE})(e)"
        code = f"return [...{every}].find({wanted})"
        element: WebElement = self.until(lambda: self.script(code, label), f"there is no button {label}")
        return element

    def click(self, label: str) -> None:
        """Press a button."""
        self._press(lambda: self.button(label))

    def press(self, css: str) -> None:
        """Press a visible element, once it is there."""
        self._press(lambda: self.find(css))

    def field(self, key: str) -> WebElement:
        """The field of a setting."""
        return self.find(f"[id='field-{key}']")

    def fill(self, element: WebElement, text: str) -> None:
        """Replace the text of a field."""
        element.clear()
        element.send_keys(text)

    def names(self) -> list[str]:
        """The connectors in the list, in its order."""
        names = "[...document.querySelectorAll('tbody a.name')].map((each) => each.textContent)"
        return list(self.script(f"return {names}"))

    def text(self, css: str = "main") -> str:
        """What can be read there now."""
        texts = "[...document.querySelectorAll(arguments[0])].map((e) => (e.checkVisibility() ? e.innerText : ''))"
        return "\n".join(map(str.strip, self.script(f"return {texts}", css)))

    def see(self, text: str, css: str = "body", patience_s: float = _PATIENCE_S) -> None:
        """Wait until the text can be read. :raises AssertionError: it does not appear."""
        self.until(lambda: text in self.text(css), f"{text!r} does not appear", patience_s)

    def see_names(self, *names: str) -> None:
        """Wait until the list has these connectors. :raises AssertionError: it has others."""
        self.until(lambda: self.names() == list(names), f"the list is not {names}")

    def focused(self) -> str:
        """The text of the element that has the focus."""
        return str(self.script("return document.activeElement.textContent"))

    def script(self, code: str, *arguments: Any) -> Any:
        """Run JavaScript."""
        return self.driver.execute_script(code, *arguments)

    def theme(self, name: str) -> None:
        """What the system prefers: `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def screenshot(self, name: str) -> Path:
        """Keep a picture in `build/screenshots`."""
        path = SCREENSHOTS / f"{name}.png"
        self.driver.save_screenshot(str(path))
        return path

    def errors(self) -> list[str]:
        """What the browser's console has had to complain of since the last call; refused requests are not errors."""
        log = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [e["message"] for e in log if e["level"] == "SEVERE" and "status of 4" not in e["message"]]

    def accessibility(self, *rules: str) -> list[str]:
        """What axe-core finds, with these rules or with all that it runs by default.

        :raises ModuleNotFoundError: `axe-core-python` is not installed.
        """
        self.script(axe_script())
        self.driver.set_script_timeout(60)
        violations = self.driver.execute_async_script(
            "const [rules, done] = arguments;"
            "axe.run(rules.length ? {runOnly: {type: 'rule', values: rules}} : {})"
            ".then(({violations}) => done(violations), (error) => done([{id: String(error), nodes: []}]));",
            list(rules),
        )
        return [
            f"{each['id']}: {json.dumps([node['html'][:200] for node in each['nodes']][:5])}" for each in violations
        ]

    def _press(self, find: Callable[[], WebElement]) -> None:
        """One that the page has just replaced is looked for again."""

        def press() -> bool:
            find().click()
            return True

        self.until(press, "it cannot be pressed")

    def until(self, ask: Callable[[], Any], complaint: str, patience_s: float = _PATIENCE_S) -> Any:
        """The first answer that is true. :raises AssertionError: there is none in time."""
        deadline, pause_s = time.monotonic() + patience_s, 0.05
        while True:
            try:
                if answer := ask():
                    return answer
            except StaleElementReferenceException:
                pass
            assert time.monotonic() < deadline, f"{complaint}; the page says:\n{self.text('body')[:2000]}"
            time.sleep(pause_s)
            pause_s = min(1.5 * pause_s, 0.5)


@contextmanager
def watched_page(driver: webdriver.Chrome, url: str) -> Iterator[ConnectorsPage]:
    """The page, not opened yet; nothing typed into it is left for the next one.

    :raises AssertionError: at the end, the console has errors.
    """
    shown = ConnectorsPage(driver, url)
    shown.theme("light")
    yield shown
    shown.script("if (location.host) sessionStorage.clear()")
    errors = shown.errors()
    driver.get("about:blank")
    assert errors == []


def axe_script() -> str:
    """axe-core's JavaScript. :raises ModuleNotFoundError: `axe-core-python` is not installed."""
    spec = importlib.util.find_spec("axe_core_python")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("axe-core-python is not installed")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")
