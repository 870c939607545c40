"""A complete Airflow for tests: scheduler, API server and all, the processes that `airflow standalone` starts."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.process_tree import kill_tree
from tests.support.airflow.home import PATIENT
from tests.support.databases.postgres import PostgresDatabase

_REPOSITORY = Path(__file__).parents[3]
# `airflow standalone` starts them one by one. From a process that has imported Airflow they are forked: to import it
# takes each of them seconds.
_START = """
import os, sys, traceback
import airflow.api_fastapi.core_api.app, airflow.api_fastapi.execution_api.app, airflow.jobs.scheduler_job_runner
from airflow.__main__ import main

def start(*command):
    if pid := os.fork():
        return pid
    sys.argv = ["airflow", *command]
    code = 1
    try:
        main()
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)

assert os.waitpid(start("db", "migrate"), 0)[1] == 0
start("scheduler", "--skip-serve-logs")
start("dag-processor")
start("api-server")
start("triggerer", "--skip-serve-logs")
for _ in range(4):
    os.wait()
"""


class StandaloneAirflow:
    """Started by `start`, ended with all its processes by `stop`.

    :param home: an empty folder; `dags` in it is the folder of DAG files.
    :param database: an empty one. In SQLite, a request that finds it locked leaves rows to be seen for a moment that
        are then taken back, and the scheduler ends when it comes across one.
    :param environment: additional variables, such as connections.
    """

    def __init__(self, home: Path, database: PostgresDatabase, environment: Mapping[str, str]) -> None:
        self.database = database
        self.dags = home / "dags"
        self.dags.mkdir(parents=True)
        self.example_folder = home / "example"
        self.example_folder.mkdir()
        self._log = home / "standalone.log"
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        own = {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database.airflow_url,
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": database.airflow_url,
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER": str(self.example_folder),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self._port),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            **PATIENT,
            "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "600",  # changed files are parsed at once
            # Tasks whose worker was killed are detected quickly.
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "2",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",  # they tell it every five seconds
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(_REPOSITORY),
        }
        self._environment = {**os.environ, **own, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self.token = ""

    def start(self, timeout_s: float = 180.0) -> None:
        """Return when the API answers and the scheduler is running."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START],
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
        self.token = self.ask("GET", "/auth/token")["access_token"]

    def stop(self) -> None:
        """End everything it has started."""
        if self._process is not None:
            kill_tree(self._process.pid)
            self._process.wait(30)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The REST API's response. :raises AssertionError: an error; with its text."""
        request = urllib.request.Request(f"{self.url}{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def add_example(self, name: str) -> None:
        """Copy a file of example DAGs into the DAG folder."""
        shutil.copy(_REPOSITORY / "dags" / f"{name}.py", self.dags)

    def wait_for_dag(self, dag_id: str, timeout_s: float = 120.0) -> None:
        """Return when the DAG file has been read."""
        deadline = time.monotonic() + timeout_s
        while dag_id not in [dag["dag_id"] for dag in self.ask("GET", "/api/v2/dags")["dags"]]:
            assert time.monotonic() < deadline, self.ask("GET", "/api/v2/importErrors")
            time.sleep(0.5)

    def text(self) -> str:
        """Everything it has printed."""
        return self._log.read_text(errors="replace")

    @contextmanager
    def other_triggerer(self) -> Iterator[None]:
        """Gives all triggers to another triggerer, which seems to be alive, until the block ends."""
        alive = (
            "INSERT INTO job (job_type, state, latest_heartbeat) VALUES ('TriggererJob', 'running', %s) RETURNING id"
        )
        other = self.database.execute(alive, [datetime.now(UTC) + timedelta(days=1)])[0][0]
        self.database.execute(f"UPDATE trigger SET triggerer_id = {other}")
        try:
            yield
        finally:
            # Triggers of one that is not alive are taken over.
            self.database.execute(f"DELETE FROM job WHERE id = {other}")

    def processes(self) -> list[psutil.Process]:
        """All its descendants."""
        assert self._process is not None
        return list(psutil.Process(self._process.pid).children(recursive=True))

    def _is_up(self) -> bool:
        try:
            health = self.ask("GET", "/api/v2/monitor/health")
        except (OSError, AssertionError, ValueError):
            return False
        return all(health[part]["status"] == "healthy" for part in ("scheduler", "dag_processor", "triggerer"))


_DAG = """
from datetime import datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable

import airflow_kconnect
from airflow_kconnect import run_params

with DAG(
    {dag_id!r},
    schedule={schedule},
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=run_params(),
):
    airflow_kconnect.{operator}(
        task_id="move",
        connector={connector!r},
        worker_config={worker!r},
        env_vars={variables!r},
        retries={retries},
        retry_delay=timedelta(0),
    )
"""


class ConnectorDag:
    """A DAG with one task, `move`, that runs a connector.

    :param operator: name of the operator.
    :param hourly: whether it is scheduled, with hourly intervals; False: it is triggered manually.
    """

    def __init__(
        self,
        airflow: StandaloneAirflow,
        dag_id: str,
        operator: str,
        connector: Mapping[str, Any],
        *,
        hourly: bool = False,
        retries: int = 0,
    ) -> None:
        self.dag_id = dag_id
        self._airflow, self._operator, self._connector = airflow, operator, dict(connector)
        self._schedule = "CronDataIntervalTimetable('0 * * * *', timezone='UTC')" if hourly else "None"
        self._retries = retries
        self._task = "move"

    @classmethod
    def of_file(cls, airflow: StandaloneAirflow, dag_id: str, task_id: str) -> ConnectorDag:
        """A DAG whose file already exists."""
        airflow.wait_for_dag(dag_id)
        dag = cls(airflow, dag_id, "", {})
        dag._task = task_id
        return dag

    def write(self, failpoint: str | None = None, schedule: str | None = None) -> None:
        """Put its file into the DAG folder and return when Airflow has read it.

        :param failpoint: as in `runtime.process.failpoints`. :param schedule: as Python, overrides that of `hourly`.
        """
        variables = {} if failpoint is None else {"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": failpoint}
        text = _DAG.format(
            dag_id=self.dag_id,
            schedule=schedule or self._schedule,
            operator=self._operator,
            connector=self._connector,
            worker={"offset.storage.replication.factor": "-1"},
            variables=variables,
            retries=self._retries,
        )
        (self._airflow.dags / f"{self.dag_id}.py").write_text(text)
        self._airflow.wait_for_dag(self.dag_id)

    def trigger(self) -> dict[str, Any]:
        """Start a run manually, without an interval."""
        run: dict[str, Any] = self._airflow.ask("POST", f"{self._path}/dagRuns", {"logical_date": None})
        return run

    def pause(self) -> None:
        """Prevent further runs."""
        self._airflow.ask("PATCH", self._path, {"is_paused": True})

    def runs(self, run_type: str) -> list[dict[str, Any]]:
        """The DAG runs of a type, sorted by interval."""
        answer: list[dict[str, Any]] = self._airflow.ask("GET", f"{self._path}/dagRuns?limit=100")["dag_runs"]
        return sorted((r for r in answer if r["run_type"] == run_type), key=lambda r: str(r["data_interval_start"]))

    def wait_for_runs(self, run_type: str, count: int) -> list[dict[str, Any]]:
        """The runs of a type once this many have finished."""

        def over() -> bool:
            return sum(run["state"] in ("success", "failed") for run in self.runs(run_type)) >= count

        wait_for(over, f"{count} runs of type {run_type} are not over", self._airflow)
        return self.runs(run_type)

    def wait_for_end(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """The run once it has finished."""

        def current() -> dict[str, Any]:
            answer: dict[str, Any] = self._airflow.ask("GET", self._run_path(run))
            return answer

        wait_for(lambda: current()["state"] in ("success", "failed"), f"{run['dag_run_id']} is not over", self._airflow)
        return current()

    def clear(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Clear a run, as a user does, and return it once it has finished again."""
        body = {"dry_run": False, "only_failed": False}
        self._airflow.ask("POST", f"{self._run_path(run)}/clear", body)
        return self.wait_for_end(run)

    def fail_task(self, run: Mapping[str, Any]) -> None:
        """Mark the task as failed, as a user who wants to stop it does."""
        self._airflow.ask("PATCH", f"{self._run_path(run)}/taskInstances/{self._task}", {"new_state": "failed"})

    def task(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """The task instance of a run."""
        instance: dict[str, Any] = self._airflow.ask("GET", f"{self._run_path(run)}/taskInstances/{self._task}")
        return instance

    def report(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """The return value of a run's task."""
        value = self._airflow.ask("GET", f"{self._run_path(run)}/taskInstances/{self._task}/xcomEntries/return_value")[
            "value"
        ]
        report: dict[str, Any] = json.loads(value) if isinstance(value, str) else value
        return report

    def log(self, run: Mapping[str, Any]) -> str:
        """What the first try of a run's task has written."""
        answer = self._airflow.ask("GET", f"{self._run_path(run)}/taskInstances/{self._task}/logs/1?full_content=true")
        return "\n".join(map(str, answer["content"]))

    @property
    def _path(self) -> str:
        return f"/api/v2/dags/{self.dag_id}"

    def _run_path(self, run: Mapping[str, Any]) -> str:
        return f"{self._path}/dagRuns/{run['dag_run_id']}".replace("+", "%2B")


def wait_for(condition: Callable[[], bool], complaint: str, airflow: StandaloneAirflow, timeout_s: float = 300) -> None:
    """Return when a condition holds. :raises AssertionError: after the timeout, with Airflow's output."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{complaint}\n{airflow.text()[-20_000:]}"
        time.sleep(0.5)
