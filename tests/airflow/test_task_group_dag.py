"""The example with a task group in Airflow itself: no job for the sink when there is nothing to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_the_sink_runs_when_there_are_records_and_is_skipped_when_there_are_none(
    airflow_database: Path, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    bag = DagBag()
    assert bag.import_errors == {}
    dag = bag.dags["example_task_group"]

    assert states(dag) == {"notes.source": "success", "notes.wait": "success", "notes.sink": "success"}
    assert states(dag) == {"notes.source": "success", "notes.wait": "skipped", "notes.sink": "skipped"}


def states(dag: Any) -> dict[str, str]:
    """How the tasks of one more run end."""
    return {ti.task_id: str(ti.state) for ti in dag.test().get_task_instances()}
