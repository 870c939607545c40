"""Airflow's side of the demo: runs an example DAG each time that it is told to, in one process.

Started by `airflow_kconnect.local.demo` with AIRFLOW_HOME set. Each line of standard input is one run: in JSON, the
`dag` and a map of variables for the `environment`. It is answered by a line of JSON on standard output. Airflow's log
goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO


def main() -> None:
    """Prepare Airflow, say `ready`, then run a DAG per line of input."""
    answers = _take_stdout()
    dags = _prepare()
    _answer(answers, {"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["environment"])
        _answer(answers, _run(dags[asked["dag"]]))


def _take_stdout() -> TextIO:
    """Standard output for the answers alone: Airflow's log lines go to standard error from here on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _prepare() -> dict[str, Any]:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.sdk.execution_time.supervisor import in_process_api_server
    from airflow.utils.db import initdb

    if not (Path(os.environ["AIRFLOW_HOME"]) / "airflow.db").exists():
        initdb()
    # Else the first task waits for it: some seconds, during which here the broker is starting.
    _ = in_process_api_server().transport
    bag = DagBag()
    if bag.import_errors:
        raise RuntimeError(f"the examples did not load: {bag.import_errors}")
    return dict(bag.dags)


def _run(dag: Any) -> dict[str, Any]:
    run = dag.test()
    return {"state": str(run.state), "reports": {task_id: report_of(run, task_id) for task_id in dag.task_ids}}


def report_of(run: Any, task_id: str) -> Any:
    """What the task returned: its report, as any other task could pull it from XCom."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session

    with create_session() as session:
        query = XComModel.get_many(run_id=run.run_id, key="return_value", task_ids=task_id, dag_ids=run.dag_id)
        found = session.scalars(query).first()
    return None if found is None else XComModel.deserialize_value(found)


if __name__ == "__main__":
    main()
