"""Many connectors in one DAG: mapped tasks, and a folder of files, with real jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import topic_asset
from tests.support import unique
from tests.support.airflow_dags import add_dag

STRING = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}

MAPPED = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSourceOperator

with DAG({name!r}):
    KafkaSourceOperator.partial(
        task_id="read", worker_config={{"offset.storage.replication.factor": "-1"}}, max_active_tis_per_dagrun=1
    ).expand(connector={connectors!r})
"""

CONSUMER = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from airflow_kconnect import connector_alias

with DAG("after_{name}", schedule=[connector_alias({name!r})], is_paused_upon_creation=False):
    EmptyOperator(task_id="look")
"""

FOLDER = """
from airflow.sdk import DAG, TaskGroup

from airflow_kconnect import connectors_from_folder

with DAG({name!r}):
    with TaskGroup("all"):
        tasks = connectors_from_folder("connectors", worker_config={{"offset.storage.replication.factor": "-1"}})
    tasks["{name}-source"] >> tasks["{name}-sink"]
"""


def source(name: str, folder: Path, lines: int) -> dict[str, Any]:
    file = folder / f"{name}.txt"
    file.write_text("".join(f"line {n}\n" for n in range(lines)))
    return {"name": name, "config": {"connector.class": "FileStreamSource", "file": str(file), "topic": name, **STRING}}


def events() -> dict[str, int]:
    """Records written, by topic, of the asset events of Airflow."""
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.execute(
            select(AssetModel.uri, AssetEvent).join(AssetEvent, AssetEvent.asset_id == AssetModel.id)
        )
        return {uri: event.extra["records"]["written"] for uri, event in found}


def triggered() -> set[str]:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        return set(DagModel.dags_needing_dagruns(session)[1])


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_mapped_tasks_record_the_events_of_their_topics(
    airflow_database: Path, connections: None, tmp_path: Path
) -> None:
    first, second = unique("mapped"), unique("mapped")
    add_dag(tmp_path / "consumer", CONSUMER.format(name=first))
    connectors = [source(first, tmp_path, 3), source(second, tmp_path, 5)]

    run = add_dag(tmp_path / "dags", MAPPED.format(name=unique("many"), connectors=connectors)).test()

    assert run.state == "success"
    found = events()
    assert [found[topic_asset(name).uri] for name in (first, second)] == [3, 5]
    assert f"after_{first}" in triggered()


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_folder_of_files_runs_as_tasks_of_a_group(airflow_database: Path, connections: None, tmp_path: Path) -> None:
    name = unique("folder")
    files = tmp_path / "dags" / "connectors"
    (tmp_path / "dags").mkdir()
    files.mkdir()
    read = source(f"{name}-source", tmp_path, 4)
    read["config"]["topic"] = name
    (files / "source.json").write_text(json.dumps(read))
    write = {"name": f"{name}-sink", "connector.class": "DirectorySink", "topics": name, **STRING}
    write |= {"directory": str(tmp_path / "lake"), "format": "json"}
    (files / "sink.properties").write_text("".join(f"{key}={value}\n" for key, value in write.items()))

    dag = add_dag(tmp_path / "dags", FOLDER.format(name=name))
    run = dag.test()

    assert dag.task_ids == [f"all.{name}-sink", f"all.{name}-source"]
    assert run.state == "success"
    written = [line for file in (tmp_path / "lake").rglob("*.json") for line in file.read_text().splitlines()]
    assert [json.loads(line) for line in written] == [f"line {n}" for n in range(4)]
    assert events()[topic_asset(name).uri] == 4


def test_a_broken_file_is_an_import_error_that_names_it(airflow_database: Path, tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "orders.json").write_text('{"name": "orders", "config": {"topic": "x"}}')
    (tmp_path / "dag.py").write_text(FOLDER.format(name="broken"))

    (error,) = DagBag(tmp_path).import_errors.values()

    assert "orders.json`: `connector.class`: is missing" in error
