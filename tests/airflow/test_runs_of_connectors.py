"""Runs of registered connectors in Airflow's database: started now, ended early, listed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import select

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.plugin.runs import AirflowRuns
from airflow_kconnect.submit.dag_ids import dag_id_of
from tests.support import unique
from tests.support.airflow.dags import add_dag

_DAG = """
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("{dag_id}", schedule=None):
    EmptyOperator(task_id="run")
"""


@pytest.fixture
def connector(airflow_database: Path, tmp_path: Path) -> str:
    """A connector whose DAG Airflow knows."""
    name = unique("connector")
    add_dag(tmp_path / "dags", _DAG.format(dag_id=dag_id_of(name)))
    return name


def test_a_restart_is_a_manual_run(connector: str) -> None:
    AirflowRuns().start(connector)
    (run,) = AirflowRuns().history(connector)
    assert (run["state"], run["id"].partition("__")[0]) == ("queued", "manual")


def test_a_replay_is_a_manual_run_with_parameters(connector: str) -> None:
    params = {"mode": "replay", "from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
    run_id = AirflowRuns().replay(connector, params)
    with create_session() as session:
        found = session.scalars(select(DagRun).where(DagRun.run_id == run_id)).one()
        assert (found.conf, found.run_type) == (params, "manual")


def test_a_stop_ends_runs_that_are_in_progress(connector: str) -> None:
    AirflowRuns().start(connector)
    AirflowRuns().end(connector)
    assert [run["state"] for run in AirflowRuns().history(connector)] == ["failed"]


def test_the_dag_of_a_deleted_connector_is_hidden_at_once_and_returns_with_it(connector: str, tmp_path: Path) -> None:
    runs = AirflowRuns()
    runs.start(connector)
    runs.forget(connector)
    assert _is_stale(connector)
    assert len(runs.history(connector)) == 1
    add_dag(tmp_path / "again", _DAG.format(dag_id=dag_id_of(connector)))
    assert not _is_stale(connector)


def _is_stale(connector: str) -> bool:
    with create_session() as session:
        return bool(session.scalars(select(DagModel.is_stale).where(DagModel.dag_id == dag_id_of(connector))).one())


def test_a_stop_without_a_run_does_nothing(connector: str) -> None:
    AirflowRuns().end(connector)
    assert AirflowRuns().history(connector) == []


def test_a_connector_without_a_dag_cannot_be_started_yet(airflow_database: Path) -> None:
    with pytest.raises(RetriableError, match=r"has no DAG kconnect\.new yet"):
        AirflowRuns().start("new")


@pytest.mark.parametrize(("state", "retries"), [("failed", False), ("up_for_retry", True)])
def test_how_the_latest_run_ended_is_known_at_once(connector: str, state: str, retries: bool) -> None:
    runs = AirflowRuns()
    runs.start(connector)
    _end_task(connector, state)
    ending = runs.ending(connector)
    assert ending is not None
    assert (ending.run_id.partition("__")[0], ending.retries) == ("manual", retries)


@pytest.mark.parametrize("conf", [{}, {"mode": "replay"}, {"dry_run": True}])
def test_a_run_in_progress_and_a_failed_replay_are_no_endings(connector: str, conf: dict[str, object]) -> None:
    runs = AirflowRuns()
    runs.replay(connector, conf)
    if conf:
        _end_task(connector, "failed")
    assert runs.ending(connector) is None


def test_what_a_run_has_reported_is_remembered_in_short(connector: str) -> None:
    runs = AirflowRuns()
    runs.start(connector)
    report = {"records": {"read": 9, "written": 7}, "warnings": ["2 are lost"], "notes": {}}
    with create_session() as session:
        task = session.scalars(select(TaskInstance).where(TaskInstance.dag_id == dag_id_of(connector))).one()
        XComModel.set("return_value", report, dag_id=task.dag_id, task_id=task.task_id, run_id=task.run_id)
    (run,) = runs.history(connector)
    assert (run["records"], run["warnings"]) == (7, ["2 are lost"])


def _end_task(connector: str, state: str) -> None:
    """As the scheduler does when the worker of a task sends no heartbeat any more."""
    with create_session() as session:
        task = session.scalars(select(TaskInstance).where(TaskInstance.dag_id == dag_id_of(connector))).one()
        task.state, task.end_date = state, datetime.now(UTC)
