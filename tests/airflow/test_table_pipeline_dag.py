"""The example DAG of a database table in Airflow itself, with a real broker and real Spark jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.demo_airflow import report_of
from airflow_kconnect.local.demo_pipelines import TablePipeline


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_moves_a_table_through_kafka_and_the_second_run_only_what_is_new(
    airflow_database: Path, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
    bag, pipeline = DagBag(), TablePipeline(tmp_path)
    assert bag.import_errors == {}
    dag = bag.dags[pipeline.dag_id]

    pipeline.feed(1)
    assert written(dag) == {"read_table": 373, "write_parquet": 373}
    pipeline.feed(2)
    assert written(dag) == {"read_table": 187, "write_parquet": 187}
    assert pipeline.is_complete()


def written(dag: Any) -> dict[str, int]:
    """Records written per task of one more run, by what the tasks left in XCom."""
    run = dag.test()
    assert run.state == "success"
    reports = {task_id: report_of(run, task_id) for task_id in dag.task_ids}
    assert {report["guarantee"] for report in reports.values()} == {"exactly_once"}
    return {task_id: report["records"]["written"] for task_id, report in reports.items()}
