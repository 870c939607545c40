"""Airflow for the demo: a separate process that runs DAGs on request and reports their progress."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.process_tree import kill_tree

_SO_FAR = re.compile(r", for \d+ s$")


@dataclass
class DagRun:
    """The result of a DAG run.

    :param state: in Airflow's terms, `success` or `failed`.
    :param reports: task -> the report that it returned.
    :param errors: task -> the error with which it ended, in its own words.
    """

    state: str = ""
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


class Airflow:
    """Airflow in a process of its own; see `airflow_child`. Use it as a context manager.

    :param on_step: called with what Airflow or the running task is doing.
    :param on_task: called with a task that has succeeded, and its report.
    """

    def __init__(
        self, folder: DemoFolder, on_step: Callable[[str], None], on_task: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._folder, self._on_step, self._on_task = folder, on_step, on_task
        self._task = ""

    def __enter__(self) -> Airflow:
        with self._folder.log.open("w") as log:
            self._process = subprocess.Popen(
                # -P: nothing is imported from the current folder.
                [sys.executable, "-P", "-m", "airflow_kconnect.demo.airflow_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                cwd=self._folder.path,
                env=environment(self._folder),
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        """End it, and any job that may still be running."""
        if self._process.poll() is None:
            kill_tree(self._process.pid)
        self._process.wait()

    def wait_until_ready(self) -> None:
        """Wait until it can run DAGs.

        :raises SetupError: it cannot.
        """
        self._answer(DagRun())

    def run(self, dag_id: str, settings: dict[str, str]) -> DagRun:
        """Run a DAG once.

        :param settings: environment variables for the run.
        :raises SetupError: Airflow itself has ended.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"dag": dag_id, "environment": settings}) + "\n")
        self._process.stdin.flush()
        self._task = dag_id
        run = DagRun()
        run.state = self._answer(run)
        return run

    def _answer(self, run: DagRun) -> str:
        """Follow the events up to the one that ends the answer; returns the state in it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if "step" in event:
                self._step(event)
            elif "task" in event:
                self._task_ended(event, run)
            elif "error" in event:
                raise SetupError(f"Airflow has ended: {event['error']}\nIts log: {self._folder.log}")
            else:
                return str(event.get("state", ""))
        raise SetupError(f"Airflow has ended without reporting anything: see {self._folder.log}")

    def _step(self, event: dict[str, Any]) -> None:
        self._task = event.get("of", self._task)
        # The demo shows the elapsed time of every step itself.
        step = _SO_FAR.sub("", event["step"])
        self._on_step(f"{self._task}: {step}" if self._task else step)

    def _task_ended(self, event: dict[str, Any], run: DagRun) -> None:
        task = event["task"]
        if "error" in event:
            run.errors[task] = event["error"]
        else:
            run.reports[task] = event["report"]
            self._on_task(task, event["report"])


def environment(folder: DemoFolder) -> dict[str, str]:
    """Settings of an Airflow that ignores the user's own, and connections as environment variables."""
    others = {key: value for key, value in os.environ.items() if not key.startswith("AIRFLOW_")}
    return others | {
        "AIRFLOW_HOME": str(folder.airflow),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder.dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder.airflow / 'airflow.db'}",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER": str(folder.data),
        # Only the quick compiler: right for jobs of a few seconds, wrong for long ones.
        "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1",
    }
