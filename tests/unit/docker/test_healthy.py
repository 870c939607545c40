"""The health check of the containers, against a real HTTP server."""

from __future__ import annotations

import functools
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.compose import FOLDER, services

# As Airflow answers while its scheduler has not started.
STARTING = {
    "metadatabase": {"status": "healthy"},
    "scheduler": {"status": None},
    "dag_processor": {"status": "healthy"},
}
Check = Callable[[object], int]


@pytest.fixture
def check(tmp_path: Path) -> Iterator[Check]:
    """Runs the health check of the service `airflow` against a page; its exit code."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def run(page: object) -> int:
            (tmp_path / "page").write_text(json.dumps(page))
            _, _, script, _, *wanted = services()["airflow"]["healthcheck"]["test"]
            url = f"http://127.0.0.1:{server.server_port}/page"
            command = [sys.executable, FOLDER / Path(script).name, url, *wanted]
            return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode

        yield run
        server.shutdown()


def test_all_parts_are_healthy(check: Check) -> None:
    assert check({name: {"status": "healthy"} for name in STARTING}) == 0


def test_one_part_is_not(check: Check) -> None:
    assert check(STARTING) == 1


def test_a_part_is_missing(check: Check) -> None:
    assert check({"metadatabase": {"status": "healthy"}}) == 1


def test_no_server_answers() -> None:
    command = [sys.executable, str(FOLDER / "healthy.py"), "http://127.0.0.1:1/"]
    assert subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 1
