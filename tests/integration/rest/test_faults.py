"""A server that is killed, and a broker that is unavailable."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.control import api_client, control_plane, control_worker, write_worker
from tests.support.pages.rest_server import rest_server, start_rest_server

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


def test_what_a_killed_server_has_answered_is_there(bootstrap: str, tmp_path: Path) -> None:
    worker = write_worker(tmp_path, control_worker(bootstrap))
    answered, asked = set[str](), set[str]()
    for generation in range(2):
        server, url = start_rest_server(worker)
        some = threading.Event()

        def create(url: str = url, generation: int = generation, some: threading.Event = some) -> None:
            for number in range(1000):
                name = f"connector-{generation}-{number}"
                asked.add(name)
                try:
                    answer = httpx.post(f"{url}/connectors", json={"name": name, "config": CONFIG}, timeout=30)
                except httpx.HTTPError:
                    return
                if answer.status_code == 201:
                    answered.add(name)
                    some.set()

        client = threading.Thread(target=create)
        client.start()
        assert some.wait(60)
        time.sleep(0.5 + generation / 2)
        server.kill()  # as if its machine lost power
        client.join()
        server.wait()
    with rest_server(worker) as url:
        registered = set(httpx.get(f"{url}/connectors", timeout=30).json())
    assert (answered - registered, registered - asked, len(answered) > 0) == (set(), set(), True)


def test_a_header_without_end_is_not_kept(bootstrap: str, worker_file: Path) -> None:
    with rest_server(worker_file) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection, suppress(OSError):
            connection.sendall(b"GET /connectors HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 2_000_000)
            assert connection.makefile("rb").readline() in (b"HTTP/1.1 400 Bad Request\r\n", b"")
        assert httpx.get(f"{url}/health", timeout=30).status_code == 200


def test_a_closed_server_refuses_at_once(bootstrap: str) -> None:
    stores = ControlStores(control_worker(bootstrap))
    stores.close()
    began = time.monotonic()
    with pytest.raises(RetriableError, match="was stopped"):
        stores.configs()
    assert time.monotonic() - began < 20


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker that is frozen by these tests."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="module")
def without_broker(own_broker: EmbeddedBroker) -> Iterator[TestClient]:
    """A client of a server that has read its topics before the broker has stopped."""
    props = control_worker(own_broker.bootstrap)
    with control_plane(props) as plane:
        client = api_client(plane)
        assert client.post("/connectors", json={"name": "one", "config": CONFIG}).status_code == 201
        own_broker.stop()
        deadline = time.monotonic() + 60
        while client.get("/health").status_code == 200:
            assert time.monotonic() < deadline, "the health does not change"
            time.sleep(0.5)
        yield client


def test_without_a_broker_the_last_state_is_answered(without_broker: TestClient) -> None:
    assert without_broker.get("/connectors/one/status").json()["connector"]["state"] == "RUNNING"


def test_without_a_broker_the_health_says_so(without_broker: TestClient) -> None:
    answer = without_broker.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (500, "unhealthy")


@pytest.mark.exhaustive
def test_without_a_broker_nothing_can_be_written(without_broker: TestClient) -> None:
    answer = without_broker.post("/connectors", json={"name": "two", "config": CONFIG})
    assert (answer.status_code, answer.json()["error_code"]) == (503, 503)
