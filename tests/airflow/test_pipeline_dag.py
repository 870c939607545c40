"""The example DAG in Airflow itself, with a real broker and real Spark jobs."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.local.demo_airflow import report_of
from tests.support import unique

DAG_ID = "example_file_pipeline"


@pytest.fixture
def example_dag(airflow_database: Path) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag()
    assert bag.import_errors == {}
    return bag.dags[DAG_ID]


class TestExampleDag:
    def test_loads(self, example_dag: Any) -> None:
        assert [task.task_id for task in example_dag.topological_sort()] == ["read_file", "write_files"]
        assert example_dag.max_active_runs == 1

    def test_needs_nothing_to_be_parsed(self, example_dag: Any) -> None:
        assert "{{ var.value" in example_dag.get_task("read_file").connector["config"]["file"]

    @pytest.mark.spark_submit
    @pytest.mark.timeout(600)
    def test_moves_a_file_through_kafka_and_the_second_run_only_what_is_new(
        self, example_dag: Any, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
        lines = [f"line {number}, é \U0001f680" for number in range(300)]

        first = self._run(example_dag, tmp_path, lines[:200])
        second = self._run(example_dag, tmp_path, lines)
        third = self._run(example_dag, tmp_path, lines)

        assert first == {"read_file": 200, "write_files": 200}
        assert second == {"read_file": 100, "write_files": 100}
        assert third == {"read_file": 0, "write_files": 0}
        files = sorted((tmp_path / "output").rglob("*.json"))
        assert [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()] == lines

    def _run(self, dag: Any, folder: Path, lines: list[str]) -> dict[str, int]:
        """Records written per task, by what the tasks left in XCom."""
        (folder / "input.csv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        run = dag.test()
        assert run.state == "success"
        reports = {task_id: report_of(run, task_id) for task_id in dag.task_ids}
        assert {report["guarantee"] for report in reports.values()} == {"exactly_once"}
        return {task_id: report["records"]["written"] for task_id, report in reports.items()}


def _context() -> Any:
    ti = SimpleNamespace(dag_id="d", task_id="t", run_id="manual__1", map_index=-1, try_number=1)
    return {"ti": ti, "dag_run": SimpleNamespace(clear_number=0, run_type="manual")}


@pytest.mark.spark_submit
class TestOnKill:
    def test_leaves_no_process_and_no_file(self, connections: None, tmp_path: Path) -> None:
        """The job is stopped while a Python worker of Spark is in the middle of its transaction."""
        (tmp_path / "input").write_text("a line\n")
        name = unique("killed")
        reached = tmp_path / "reached"
        operator = KafkaSourceOperator(
            task_id="read",
            connector={
                "name": name,
                "connector.class": "FileStreamSource",
                "file": str(tmp_path / "input"),
                "topic": name,
            },
            worker_config={"offset.storage.replication.factor": "-1", "offset.storage.topic": f"{name}-offsets"},
            env_vars={"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": f"after-last-produce:block:{reached}"},
        )
        errors: list[Exception] = []
        thread = threading.Thread(target=_execute, args=(operator, errors), daemon=True)
        thread.start()
        try:
            _wait_for(reached, thread)
            tree = psutil.Process(operator._hook._submit_sp.pid).children(recursive=True)  # type: ignore[union-attr]
            names = [_command_line(process) for process in tree]
        finally:
            operator.on_kill()
            thread.join(60)

        assert any("worker_daemon" in name for name in names)
        assert any("connector_job.py" in name for name in names)
        assert not [process for process in tree if process.is_running()]
        assert operator._run_file is not None
        assert not operator._run_file.exists()
        assert len(errors) == 1


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        # The JVM asks small programs about this machine.
        return ""


def _execute(operator: KafkaSourceOperator, errors: list[Exception]) -> None:
    try:
        operator.execute(_context())
    except Exception as error:
        errors.append(error)


def _wait_for(file: Path, thread: threading.Thread) -> None:
    deadline = time.monotonic() + 180
    while not file.exists():
        assert thread.is_alive(), "the job ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.1)
