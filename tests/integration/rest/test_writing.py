"""Connectors that are created, changed and deleted by several callers at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from tests.support import unique
from tests.support.control import api_client, control_plane

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


@pytest.fixture(scope="module")
def second(control_props: dict[str, str]) -> Iterator[TestClient]:
    """Another API worker on the same topics."""
    with control_plane(control_props) as plane:
        yield api_client(plane)


def _create(client: TestClient, name: str) -> int:
    return client.post("/connectors", json={"name": name, "config": CONFIG}).status_code


@pytest.fixture
def one() -> str:
    """A name that no other test uses."""
    return unique("connector")


def test_of_twenty_creates_at_once_one_succeeds(one: str, client: TestClient, second: TestClient) -> None:
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda n: _create((client, second)[n % 2], one), range(20)))
    assert sorted(statuses) == [201] + [409] * 19


def test_what_one_worker_writes_the_other_reads_soon(one: str, client: TestClient, second: TestClient) -> None:
    assert one not in second.get("/connectors").json()
    _create(client, one)
    deadline = time.monotonic() + 30  # 1 s at most on a machine that does nothing else
    while one not in second.get("/connectors").json():
        assert time.monotonic() < deadline, "it is not read"


def test_what_a_worker_has_written_it_reads_at_once(one: str, client: TestClient) -> None:
    _create(client, one)
    assert client.get(f"/connectors/{one}/config").json() == {**CONFIG, "name": one}


def test_nothing_is_registered_if_the_configuration_is_wrong(one: str, client: TestClient) -> None:
    client.post("/connectors", json={"name": one, "config": {**CONFIG, "tasks.max": "0"}})
    assert one not in client.get("/connectors").json()


def test_a_deleted_connector_can_be_created_again(one: str, client: TestClient) -> None:
    _create(client, one)
    client.delete(f"/connectors/{one}")
    assert _create(client, one) == 201


def test_a_new_connector_with_an_old_name_is_not_paused_as_the_old_one_was(one: str, client: TestClient) -> None:
    _create(client, one)
    client.put(f"/connectors/{one}/pause")
    client.delete(f"/connectors/{one}")
    _create(client, one)
    assert client.get(f"/connectors/{one}/status").json()["connector"]["state"] == "RUNNING"


def test_a_secret_is_hidden_and_survives_a_round_trip(one: str, client: TestClient, plane: ControlPlane) -> None:
    secret = {**CONFIG, "producer.override.sasl.password": "geheim"}
    client.post("/connectors", json={"name": one, "config": secret})
    shown = client.get(f"/connectors/{one}/config").json()
    client.put(f"/connectors/{one}/config", json=shown)
    assert (shown["producer.override.sasl.password"], plane.registered_config(one)) == (
        "[hidden]",
        {**secret, "name": one},
    )


def test_a_patch_with_null_removes_a_key(one: str, client: TestClient) -> None:
    client.post("/connectors", json={"name": one, "config": {**CONFIG, "batch.size": "5"}})
    patched = client.patch(f"/connectors/{one}/config", json={"batch.size": None, "topic": "u"}).json()
    assert patched["config"] == {**CONFIG, "topic": "u", "name": one}
