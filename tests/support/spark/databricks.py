"""Databricks with one cluster: runs/submit, get, get-output and cancel of its Jobs API, as it is documented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.http_server import Answer, HttpServer, Request, http_server
from tests.support.spark.services import JobRunner

CLUSTER = "0923-164208-meows279"
_PYTHON = Path(__file__).with_name("databricks_python.py")


@contextmanager
def databricks(runner: JobRunner) -> Iterator[HttpServer]:
    """A server whose jobs the runner runs."""
    with http_server(answer=_Workspace(runner).answer) as server:
        try:
            yield server
        finally:
            runner.end()


@dataclass
class _Workspace:
    runner: JobRunner

    def answer(self, request: Request) -> Answer:
        if request.headers["Authorization"] != "Bearer dapi0":
            return _error(403, "PERMISSION_DENIED", "Invalid access token.")
        path, _, query = re.sub(r"^/api/2\.[12]/jobs/runs/", "", request.path).partition("?")
        if path == "submit":
            return self._submitted(json.loads(request.body))
        number = int(json.loads(request.body)["run_id"] if request.body else re.sub(r"\D", "", query))
        run_id = next((key for key in self.runner.runs if _number(key) == number), None)
        if run_id is None:
            return _error(400, "INVALID_PARAMETER_VALUE", f"Run {number} does not exist.")
        if path == "cancel":
            self.runner.cancel(run_id)
            return _json({})
        return _json(self._output(run_id) if path == "get-output" else self._run(run_id))

    def _submitted(self, body: dict[str, Any]) -> Answer:
        for run_id, run in self.runner.runs.items():
            if run.request["idempotency_token"] == body["idempotency_token"]:
                return _json({"run_id": _number(run_id)})
        (task,) = body["tasks"]
        if task.get("existing_cluster_id", CLUSTER) != CLUSTER:
            text = f"Cluster {task['existing_cluster_id']} does not exist"
            return _error(400, "INVALID_PARAMETER_VALUE", text)
        file = task["spark_python_task"]
        conf = task.get("new_cluster", {}).get("spark_conf", {})
        words = [file["python_file"], *file["parameters"]]
        return _json({"run_id": _number(self.runner.start(body, str(_PYTHON), words, conf))})

    def _run(self, run_id: str) -> dict[str, Any]:
        number = _number(run_id)
        facts = {"run_id": number, "run_page_url": f"https://dbc-1.cloud.databricks.com/jobs/1/runs/{number}"}
        return {**facts, "tasks": [{"task_key": "kconnect", "run_id": number}], "state": self._state(run_id)}

    def _state(self, run_id: str) -> dict[str, str]:
        run = self.runner.runs[run_id]
        if run.cancelled:
            return {"life_cycle_state": "TERMINATED", "result_state": "CANCELED", "state_message": "Run cancelled."}
        if (code := run.exit_code) is None:
            return {"life_cycle_state": "RUNNING", "state_message": "In run"}
        if code:
            text = "Workload failed, see run output for details"
            return {"life_cycle_state": "TERMINATED", "result_state": "FAILED", "state_message": text}
        return {"life_cycle_state": "TERMINATED", "result_state": "SUCCESS", "state_message": ""}

    def _output(self, run_id: str) -> dict[str, Any]:
        log = self.runner.runs[run_id].log.read_text()
        return {"logs": log, "error": "".join(re.findall(r"^\w+Error: .*", log, re.MULTILINE)[-1:])}


def _number(run_id: str) -> int:
    return 100 + int(run_id.removeprefix("00job"))


def _json(value: Any) -> Answer:
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(value).encode())


def _error(status: int, code: str, text: str) -> Answer:
    body = json.dumps({"error_code": code, "message": text}).encode()
    return Answer(status, {"Content-Type": "application/json"}, body)
