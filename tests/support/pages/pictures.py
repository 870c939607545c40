"""The pictures of the Connectors page in the documentation, made again from the present page:

python -m tests.support.pages.pictures docs/images
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import control_plane, control_worker
from tests.support.kafka import create_topic, produce
from tests.support.pages.browser import chromium
from tests.support.pages.connectors_page import ConnectorsPage, served
from tests.support.pages.shop import open_shop
from tests.support.registered import Registered, WorkerTopics

_ORDER = '{"id": 40112, "customer": {"name": "Ada", "card": "4111111111111111"}, "total": 12.5}'
_CHAIN = {
    "connector.class": "DirectorySink",
    "directory": "/lake/orders",
    "topics": "card-payments",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "flat,card",
    "transforms.flat.type": "org.apache.kafka.connect.transforms.Flatten$Value",
    "transforms.flat.delimiter": "_",
    "transforms.card.type": "org.apache.kafka.connect.transforms.MaskField$Value",
    "transforms.card.fields": "customer_card",
    "transforms.card.replacement": "****",
}


class Pictures:
    """Takes them.

    :param folder: where they are put.
    """

    def __init__(self, page: ConnectorsPage, folder: Path) -> None:
        self._page, self._folder = page, folder

    def take_list(self) -> None:
        """All connectors."""
        self._size(1110)
        self._page.open()
        self._page.see("2,188", "tbody")
        self._take("list")

    def take_runs(self) -> None:
        """The runs of a connector, one of which has lost records."""
        self._size(760)
        self._page.open("#/connector/returns-lake/runs")
        self._page.see("1,187", ".past")
        self._page.find(".past summary").click()
        self._take("runs")

    def take_failed(self) -> None:
        """A failed connector, in dark."""
        self._size(860)
        self._page.theme("dark")
        self._page.open("#/connector/orders-warehouse")
        self._page.see("2,188")
        self._take("failed")

    def take_configuration(self) -> None:
        """A form with an error."""
        self._size(800)
        self._page.open("#/connector/payments-lake/configuration")
        self._page.see("Everything is valid")
        self._page.fill(self._page.field("tasks.max"), "many")
        self._page.see("1 setting needs attention")
        self._take("configuration")

    def take_preview(self) -> None:
        """What a chain makes of a record; Spark starts for it."""
        self._size(1010)
        self._page.open("#/connector/card-payments-lake/preview")
        self._page.find(".previewing .primary:enabled").click()
        self._page.see("customer_card", ".preview", 180)
        self._take("preview")

    def _size(self, height: int) -> None:
        size = {"width": 1160, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def _take(self, name: str) -> None:
        self._page.driver.save_screenshot(str(self._folder / f"connectors-{name}.png"))
        self._page.theme("light")


@contextmanager
def _shop(folder: Path) -> Iterator[ControlPlane]:
    broker = EmbeddedBroker(folder)
    broker.start()
    props = control_worker(broker.bootstrap)
    try:
        topics = WorkerTopics(broker.bootstrap, props)
        open_shop(broker.bootstrap, topics)
        with control_plane(props) as plane:
            yield plane
    finally:
        broker.stop()


def _add_chain(plane: ControlPlane) -> None:
    bootstrap = plane.worker.props["bootstrap.servers"]
    create_topic(bootstrap, "card-payments")
    produce(bootstrap, "card-payments", [_ORDER], key="40112", partition=0)
    WorkerTopics(bootstrap, {key: str(text) for key, text in plane.worker_props.items()}).add(
        Registered("card-payments-lake", _CHAIN, topics=("card-payments",))
    )


def main(folder: Path) -> None:
    """Take all of them."""
    with (
        tempfile.TemporaryDirectory() as own,
        _shop(Path(own) / "broker") as plane,
        chromium(Path(own)) as browser,
        served(create_app(lambda: plane, TokenPolicy(None))) as url,
    ):
        browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        pictures = Pictures(ConnectorsPage(browser, f"{url}/ui/"), folder)
        pictures.take_list()
        pictures.take_runs()
        pictures.take_failed()
        pictures.take_configuration()
        _add_chain(plane)
        pictures.take_preview()
        browser.get("about:blank")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
