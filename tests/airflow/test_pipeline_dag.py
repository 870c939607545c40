"""The example DAG in Airflow itself, with a real broker and real Spark jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import topic_asset
from tests.support.airflow.dags import add_dag, report_of

DAG_ID = "example_file_pipeline"


@pytest.fixture
def example_dag(airflow_database: Path, connections: None) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag()
    assert bag.import_errors == {}
    return bag.dags[DAG_ID]


CONSUMER = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from airflow_kconnect import topic_asset

with DAG("after_weather", schedule=[topic_asset("weather")], is_paused_upon_creation=False):
    EmptyOperator(task_id="look")
"""


@pytest.fixture
def consumer(airflow_database: Path, tmp_path: Path) -> str:
    """A DAG that is scheduled by the asset of the example's topic."""
    return str(add_dag(tmp_path / "consumer", CONSUMER).dag_id)


def _events_of_the_topic() -> list[dict[str, Any]]:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        of_topic = AssetEvent.asset_id.in_(select(AssetModel.id).where(AssetModel.uri == topic_asset("weather").uri))
        return [event.extra for event in session.scalars(select(AssetEvent).where(of_topic).order_by(AssetEvent.id))]


def _triggered_dags() -> set[str]:
    """The DAGs for which the scheduler is about to make a run because of assets."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        return set(DagModel.dags_needing_dagruns(session)[1])


class TestExampleDag:
    def test_loads(self, example_dag: Any) -> None:
        assert [task.task_id for task in example_dag.topological_sort()] == ["read_file", "write_files"]
        assert example_dag.max_active_runs == 1

    def test_needs_nothing_to_be_parsed(self, example_dag: Any) -> None:
        assert "{{ var.value" in example_dag.get_task("read_file").connector["config"]["file"]

    @pytest.mark.spark_submit
    @pytest.mark.timeout(600)
    @pytest.mark.exhaustive  # `make demo` runs it, too
    def test_moves_a_file_through_kafka_and_the_second_run_only_what_is_new(
        self, example_dag: Any, connections: None, consumer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
        lines = [f"line {number}, é \U0001f680" for number in range(300)]

        first = self._run(example_dag, tmp_path, lines[:200])
        second = self._run(example_dag, tmp_path, lines)
        third = self._run(example_dag, tmp_path, lines)
        events, triggered = _events_of_the_topic(), _triggered_dags()

        assert first == {"read_file": 200, "write_files": 200}
        assert second == {"read_file": 100, "write_files": 100}
        assert third == {"read_file": 0, "write_files": 0}
        files = sorted((tmp_path / "output").rglob("*.json"))
        assert [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()] == lines
        assert [event["records"]["written"] for event in events] == [200, 100]
        assert {event["connector"] for event in events} == {"weather-source"}
        assert consumer in triggered

    def _run(self, dag: Any, folder: Path, lines: list[str]) -> dict[str, int]:
        """Records written per task, by what the tasks left in XCom."""
        (folder / "input.csv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        run = dag.test()
        assert run.state == "success"
        reports = {task_id: report_of(run, task_id) for task_id in dag.task_ids}
        assert {report["guarantee"] for report in reports.values()} == {"exactly_once"}
        return {task_id: report["records"]["written"] for task_id, report in reports.items()}
