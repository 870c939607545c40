"""What a reader does in the UI of `airflow standalone`, through its REST API: log in, unpause a DAG, see it succeed."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


class AirflowUi:
    """The user `admin` of `airflow standalone`.

    :param url: its address. :param home: its AIRFLOW_HOME, with the generated password.
    """

    def __init__(self, url: str, home: Path) -> None:
        self._url, self._passwords = url, home / "simple_auth_manager_passwords.json.generated"
        self._token = ""

    def run(self, dag_id: str, timeout_s: float = 300.0) -> None:
        """Log in once Airflow is up, unpause the DAG, and return when its first run has succeeded.

        :raises AssertionError: it has failed, or something took longer than `timeout_s` seconds.
        """
        deadline_s = time.monotonic() + timeout_s
        _until(self._logs_in, deadline_s, "no login is possible")
        path = f"/api/v2/dags/{dag_id}"
        _until(lambda: self._ask("GET", path), deadline_s, f"the DAG {dag_id} is not there")
        _until(lambda: self._ask("PATCH", path, {"is_paused": False}), deadline_s, f"{dag_id} cannot be switched on")
        _until(lambda: self._scheduled_runs(path), deadline_s, f"{dag_id} has not run")
        assert self._scheduled_runs(path) == {"success"}

    def _logs_in(self) -> bool:
        if not self._passwords.exists():
            return False
        user = {"username": "admin", "password": json.loads(self._passwords.read_text())["admin"]}
        answer = self._ask("POST", "/auth/token", user)
        self._token = answer["access_token"] if answer else ""
        return bool(answer)

    def _scheduled_runs(self, path: str) -> set[str]:
        """The states of the scheduled runs, once one of them has finished."""
        answer = self._ask("GET", f"{path}/dagRuns?run_type=scheduled") or {"dag_runs": []}
        return {run["state"] for run in answer["dag_runs"]} & {"success", "failed"}

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The response; None if there is none, or an error, as while Airflow starts."""
        request = urllib.request.Request(f"{self._url}{path}", method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {self._token}")
        try:
            data = None if body is None else json.dumps(body).encode()
            with urllib.request.urlopen(request, data, timeout=30) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None


def _until(condition: Callable[[], Any], deadline_s: float, complaint: str) -> None:
    while not condition():
        assert time.monotonic() < deadline_s, complaint
        time.sleep(0.5)
