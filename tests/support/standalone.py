"""A whole Airflow for tests: scheduler, API server and all, as `airflow standalone` starts them."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from airflow_kconnect.local.process_tree import kill_tree

_REPOSITORY = Path(__file__).parents[2]


class StandaloneAirflow:
    """Started by `start`, ended with all its processes by `stop`.

    :param home: an empty folder; `dags` in it is the folder of DAG files.
    :param environment: more variables, such as connections.
    """

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self.dags = home / "dags"
        self.dags.mkdir(parents=True)
        self._log = home / "standalone.log"
        self._port = _free_port()
        self._url = f"http://127.0.0.1:{self._port}"
        own = {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self._port),
            "AIRFLOW__API__BASE_URL": self._url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(_REPOSITORY),
        }
        self._environment = {**os.environ, **own, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._token = ""

    def start(self, timeout_s: float = 180.0) -> None:
        """Return when the API answers and the scheduler runs."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(Path(sys.executable).with_name("airflow")), "standalone"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        deadline = time.monotonic() + timeout_s
        while not self._is_up():
            assert self._process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.5)
        self._token = self.ask("GET", "/auth/token")["access_token"]

    def stop(self) -> None:
        """End everything that it started."""
        if self._process is not None:
            kill_tree(self._process.pid)
            self._process.wait(30)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What the REST API answers. :raises AssertionError: with the text of an error."""
        while True:
            try:
                return self._ask_once(method, path, body)
            except urllib.error.HTTPError as error:
                # SQLite's lock was taken, by the scheduler.
                if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
                time.sleep(1)

    def _ask_once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        request = urllib.request.Request(f"{self._url}{path}", method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            return json.load(answer)

    def wait_for_dag(self, dag_id: str, timeout_s: float = 120.0) -> None:
        """Return when the DAG file has been read."""
        deadline = time.monotonic() + timeout_s
        while dag_id not in [dag["dag_id"] for dag in self.ask("GET", "/api/v2/dags")["dags"]]:
            assert time.monotonic() < deadline, self.ask("GET", "/api/v2/importErrors")
            time.sleep(0.5)

    def runs(self, dag_id: str, run_type: str) -> list[dict[str, Any]]:
        """The DAG runs of a type, by their interval."""
        found: list[dict[str, Any]] = self.ask("GET", f"/api/v2/dags/{dag_id}/dagRuns?limit=100")["dag_runs"]
        return sorted((r for r in found if r["run_type"] == run_type), key=lambda r: str(r["data_interval_start"]))

    def wait_for_runs(self, dag_id: str, run_type: str, count: int, timeout_s: float = 400.0) -> list[dict[str, Any]]:
        """The runs of a type when so many are over."""
        deadline = time.monotonic() + timeout_s
        while True:
            runs = self.runs(dag_id, run_type)
            if sum(run["state"] in ("success", "failed") for run in runs) >= count:
                return runs
            assert time.monotonic() < deadline, (runs, self.text()[-3000:])
            time.sleep(1)

    def report(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        """What a task has returned."""
        path = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/xcomEntries/return_value"
        value = self.ask("GET", path.replace("+", "%2B"))["value"]
        found: dict[str, Any] = json.loads(value) if isinstance(value, str) else value
        return found

    def text(self) -> str:
        """Everything that it printed."""
        return self._log.read_text(errors="replace")

    def _is_up(self) -> bool:
        try:
            health = self.ask("GET", "/api/v2/monitor/health")
        except (OSError, AssertionError, ValueError):
            return False
        return all(health[part]["status"] == "healthy" for part in ("scheduler", "dag_processor", "triggerer"))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
