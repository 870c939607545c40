"""The example DAG in Airflow itself, with a real broker and real Spark jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.demo_airflow import report_of

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
