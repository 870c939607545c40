"""What the Connectors page receives while it is open: bytes on the wire with a thousand connectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.stores.target_states import TargetState
from tests.support import unique
from tests.support.control import control_plane
from tests.support.kafka import create_topic, eventually, produce
from tests.support.pages.connectors_page import served
from tests.support.pages.shop import many
from tests.support.registered import WorkerTopics

COUNT = 1000


@pytest.fixture(scope="module")
def url(plane: ControlPlane, topics: WorkerTopics, bootstrap: str) -> Iterator[str]:
    """A server with many connectors."""
    topic = create_topic(bootstrap, unique("t"))
    produce(bootstrap, topic, [b"x"] * 3)
    topics.add(*many(COUNT, [topic]))
    with served(create_app(lambda: plane, TokenPolicy(None))) as found:
        yield found


class Watcher:
    """Asks as the page does.

    :param url: of the server.
    """

    def __init__(self, url: str, path: str = "/v1/connectors") -> None:
        self.url, self.path, self.tag, self.bytes = url, path, "", 0
        self.parts: dict[str, list[dict[str, Any]]] = {}

    def ask(self) -> dict[str, dict[str, Any]]:
        """All connectors, or lags, as they are known now."""
        with httpx.stream("GET", f"{self.url}{self.path}", params={"known": self.tag}, timeout=30) as answer:
            answer.read()
            # num_bytes_downloaded: as they came, compressed.
            head = sum(len(name) + len(value) + 4 for name, value in answer.headers.raw)
            self.bytes = head + answer.num_bytes_downloaded
        found = answer.json()
        self.tag, self.parts = found["tag"], {**self.parts, **found["parts"]}
        return {row["name"]: row for part in self.parts.values() for row in part}


@pytest.fixture
def watcher(url: str) -> Watcher:
    """One who knows all connectors and the offsets of all sources, which are read at the same time."""
    asking = Watcher(url)

    def are_offsets_known() -> bool:
        return all(row["offsets"] is not None for row in asking.ask().values() if row["type"] == "source")

    assert eventually(are_offsets_known, wanted=True)
    return asking


def test_the_first_answer_is_compressed(watcher: Watcher) -> None:
    plain = httpx.get(f"{watcher.url}/v1/connectors", headers={"Accept-Encoding": "identity"}, timeout=30)
    newcomer = Watcher(watcher.url)
    assert len(newcomer.ask()) == COUNT
    assert (len(plain.content) > 800_000, newcomer.bytes < 80_000) == (True, True), newcomer.bytes


def test_when_nothing_has_changed_almost_nothing_is_sent(watcher: Watcher) -> None:
    assert len(watcher.ask()) == COUNT
    assert watcher.bytes < 700


def test_a_change_of_one_connector_is_cheap_and_complete(watcher: Watcher, plane: ControlPlane) -> None:
    name = "team-00-table-0000"
    plane.set_target_state(name, TargetState.PAUSED)
    assert watcher.ask()[name]["target_state"] == "PAUSED"
    assert watcher.bytes < 4_000
    plane.delete(name)
    assert name not in watcher.ask()
    assert watcher.bytes < 4_000
    everything = httpx.get(f"{watcher.url}/v1/connectors", timeout=30).json()["connectors"]
    assert watcher.ask() == {row["name"]: row for row in everything}


def test_lags_that_have_not_changed_are_not_sent_again(url: str) -> None:
    lags = Watcher(url, "/v1/lags")
    assert eventually(lambda: len(lags.ask()), COUNT // 2) == COUNT // 2
    assert {row["lag"] for row in lags.ask().values()} == {3}
    assert lags.bytes < 700


def test_it_does_not_matter_which_server_answers(watcher: Watcher, control_props: dict[str, str]) -> None:
    with control_plane(control_props) as other, served(create_app(lambda: other, TokenPolicy(None))) as url:
        newcomer = Watcher(url)
        eventually(lambda: (newcomer.ask(), newcomer.tag)[1], watcher.tag)
        watcher.url = url
        watcher.ask()
    assert watcher.bytes < 700
