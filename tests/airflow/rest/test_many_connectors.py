"""Many connectors in one DAG: mapped tasks, and a folder of files, with real jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airflow_kconnect import topic_asset
from tests.support.airflow.dags import add_dag

DAG_ID = "example_many_connectors"

CONSUMER = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from airflow_kconnect import connector_alias

with DAG("after_north", schedule=[connector_alias("example-north-source")], is_paused_upon_creation=False):
    EmptyOperator(task_id="look")
"""
BROKEN = """
from airflow.sdk import DAG

from airflow_kconnect import connectors_from_folder

with DAG("broken"):
    connectors_from_folder("connectors")
"""


def events() -> dict[str, int]:
    """Records written, by the URI of the topic's asset, of all asset events."""
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        both = select(AssetModel.uri, AssetEvent).join(AssetEvent, AssetEvent.asset_id == AssetModel.id)
        return {uri: event.extra["records"]["written"] for uri, event in session.execute(both)}


def triggered() -> set[str]:
    """The DAGs for which the scheduler is about to make a run because of assets."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        return set(DagModel.dags_needing_dagruns(session)[1])


def map_indexes(run_id: str) -> set[str | None]:
    """What the UI calls the mapped tasks."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        of_run = (TaskInstance.run_id == run_id, TaskInstance.task_id == "read_region")
        return {found.rendered_map_index for found in session.scalars(select(TaskInstance).where(*of_run))}


@pytest.mark.exhaustive  # its parts are tested alone, in tests/unit/operators, too
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_files_and_mapped_tasks_move_their_records_and_record_events(
    airflow_database: Path, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
    for name, count in (("cities", 4), ("north", 3), ("south", 5)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} {n}\n" for n in range(count)))
    add_dag(tmp_path / "consumer", CONSUMER)
    bag = DagBag()
    assert bag.import_errors == {}

    run = bag.dags[DAG_ID].test()

    assert run.state == "success"
    lines = [line for file in (tmp_path / "cities").rglob("*.json") for line in file.read_text().splitlines()]
    assert [json.loads(line) for line in lines] == [f"cities {n}" for n in range(4)]
    found = events()
    assert [found[topic_asset(f"example-{name}").uri] for name in ("cities", "north", "south")] == [4, 3, 5]
    assert "after_north" in triggered()
    assert map_indexes(run.run_id) == {"example-north-source", "example-south-source"}


def test_a_broken_file_is_an_import_error_that_names_it(airflow_database: Path, tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "orders.json").write_text('{"name": "orders", "config": {"topic": "x"}}')
    (tmp_path / "dag.py").write_text(BROKEN)

    (error,) = DagBag(tmp_path).import_errors.values()

    assert "orders.json`: `connector.class`: is missing" in error
