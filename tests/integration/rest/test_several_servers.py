"""Several servers of one worker group, as several workers of Airflow's API server are."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support.control import control_worker, write_worker
from tests.support.pages.rest_server import rest_server


@pytest.fixture(scope="module")
def servers(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URLs of two."""
    worker = write_worker(tmp_path_factory.mktemp("worker"), control_worker(bootstrap))
    with rest_server(worker) as one, rest_server(worker) as other:
        yield one, other


def test_a_write_is_soon_known_to_all_servers(servers: tuple[str, str]) -> None:
    config = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
    for name, one, other in (("a", *servers), ("b", *reversed(servers))):
        assert httpx.put(f"{one}/connectors/{name}/config", json=config, timeout=30).status_code == 201
        written = time.monotonic()
        while name not in httpx.get(f"{other}/connectors", timeout=30).json():
            # 1 s at most on a machine that does nothing else
            assert time.monotonic() - written < 30, "it is not seen"
            time.sleep(0.01)


def test_a_level_for_the_cluster_counts_in_all_servers(servers: tuple[str, str]) -> None:
    one, other = servers
    level = {"level": "debug"}
    set_there = httpx.put(f"{one}/admin/loggers/kconnect", params={"scope": "cluster"}, json=level, timeout=30)
    assert set_there.status_code == 204
    for url in servers:
        deadline = time.monotonic() + 30
        while httpx.get(f"{url}/admin/loggers", timeout=30).json().get("kconnect", {}).get("level") != "DEBUG":
            assert time.monotonic() < deadline, f"{url} does not follow"
            time.sleep(0.1)
    httpx.put(f"{one}/admin/loggers/kconnect", json={"level": "ERROR"}, timeout=30)
    assert httpx.get(f"{other}/admin/loggers/kconnect", timeout=30).json()["level"] == "DEBUG"
