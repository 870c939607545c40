"""Test DAGs in a migrated Airflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def add_dag(folder: Path, text: str) -> Any:
    """Write a DAG file, and register the DAG in Airflow's database as the DAG processor does."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db

    folder.mkdir(exist_ok=True)
    (folder / "dag.py").write_text(text)
    DagBundlesManager().sync_bundles_to_db()  # type: ignore[no-untyped-call]
    bag = DagBag(folder)
    assert bag.import_errors == {}
    sync_bag_to_db(bag, "dags-folder", None)
    (dag,) = bag.dags.values()
    return dag


def report_of(run: Any, task_id: str) -> Any:
    """What a task of a DAG run returned: its report, as any other task could pull it from XCom."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session

    with create_session() as session:
        query = XComModel.get_many(run_id=run.run_id, key="return_value", task_ids=task_id, dag_ids=run.dag_id)
        report = session.scalars(query).first()
    return None if report is None else XComModel.deserialize_value(report)
