"""Several servers of one worker group, as several workers of Airflow's API server are: see `test_writing.py`, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from starlette.testclient import TestClient

from tests.support.control import write_worker
from tests.support.kafka import eventually
from tests.support.pages.rest_server import rest_server

LOGGER = "kconnect.tests.of.servers"


def test_a_level_for_the_cluster_counts_in_all_servers(
    client: TestClient, control_props: dict[str, str], tmp_path: Path
) -> None:
    """One is a process of its own."""
    with rest_server(write_worker(tmp_path, control_props)) as url:

        def level() -> Any:
            return httpx.get(f"{url}/admin/loggers", timeout=30).json().get(LOGGER, {}).get("level")

        assert client.put(f"/admin/loggers/{LOGGER}?scope=cluster", json={"level": "debug"}).status_code == 204
        assert eventually(level, "DEBUG") == "DEBUG"
        client.put(f"/admin/loggers/{LOGGER}", json={"level": "ERROR"})
        assert level() == "DEBUG"
