"""Airflow's side of the demo: runs an example DAG on request, in one process.

Started by `airflow_kconnect.demo.airflow` with AIRFLOW_HOME set. Each line of standard input is one run: in JSON, the
`dag` and a map of variables for the `environment`. Standard output has one JSON line per event: `step` (what is
happening now), `task` (one has ended, with its report or its error), and `ready`, `state` or `error`, which end an
answer. Airflow's log goes to standard error.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Tell = Callable[..., None]


def main() -> int:
    """Prepare Airflow, report `ready`, then run a DAG per line of input."""
    tell = _take_stdout()
    try:
        _prepare(tell)
        tell(ready=True)
        for line in sys.stdin:
            asked = json.loads(line)
            os.environ.update(asked["environment"])
            tell(state=_run(asked["dag"], tell))
    except Exception as error:
        traceback.print_exc()
        tell(error=_words(error))
        return 1
    return 0


def _take_stdout() -> Tell:
    """Reserve standard output for the events: Airflow's log lines go to standard error from here on."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**event: Any) -> None:
        events.write(json.dumps(event, default=str) + "\n")
        events.flush()

    return tell


def _prepare(tell: Tell) -> None:
    home = Path(os.environ["AIRFLOW_HOME"])
    made_by = home / ".created-by"
    current = version("apache-airflow-core")
    if not made_by.is_file() or made_by.read_text() != current:
        # From another version, or unfinished.
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
    tell(step="Loading Airflow")
    from airflow.sdk.execution_time.supervisor import in_process_api_server
    from airflow.utils.db import initdb

    if not made_by.is_file():
        tell(step="Creating Airflow's database")
        initdb()
        made_by.write_text(current)
    tell(step="Starting Airflow")
    # Otherwise the first task waits for it for some seconds; here it loads while the broker is starting.
    _ = in_process_api_server().transport
    _follow_log(tell)


def _follow_log(tell: Tell) -> None:
    """What this package logs in a task is a step; Spark's lines, which the provider logs, are not.

    Nor are errors: the task ends with them.
    """
    import structlog

    package = Path(__file__).parents[1]
    own = {path.name for folder in ("hooks", "operators") for path in (package / folder).rglob("*.py")}

    def follow(logger: Any, method: str, event: Any) -> Any:
        if method == "info" and str(event.get("loc", "")).partition(":")[0] in own:
            tell(step=str(event.get("event")))
        return event

    *processors, renderer = structlog.get_config()["processors"]
    structlog.configure(processors=[*processors, follow, renderer])


def _run(dag_id: str, tell: Tell) -> str:
    """Run a DAG as `airflow dags test` does; returns its state."""
    dag = runpy.run_path(str(Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"]) / f"{dag_id}.py"))["dag"]
    for task in dag.tasks:
        task.on_execute_callback = [lambda context: tell(step="starting Spark", of=context["ti"].task_id)]
        task.on_success_callback = [lambda context: tell(task=context["ti"].task_id, report=_report(context["ti"]))]
        task.on_failure_callback = [
            lambda context: tell(task=context["ti"].task_id, error=_words(context["exception"]))
        ]
    return str(dag.test().state)


def _report(task_instance: Any) -> Any:
    """What the task returned: its report, as any other task could pull it from XCom."""
    return task_instance.xcom_pull(task_ids=task_instance.task_id)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
