"""DAGs of tests in a migrated Airflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def add_dag(folder: Path, text: str) -> Any:
    """Write the file of a DAG, and make the DAG known to Airflow's database as the DAG processor does."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db

    folder.mkdir()
    (folder / "dag.py").write_text(text)
    DagBundlesManager().sync_bundles_to_db()
    bag = DagBag(folder)
    assert bag.import_errors == {}
    sync_bag_to_db(bag, "dags-folder", None)
    (dag,) = bag.dags.values()
    return dag
