"""Runs of registered connectors in Airflow's database: started now, ended early, listed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import select, update

from airflow_kconnect.airflow_plugin.dags import Answers, ScheduledRuns
from airflow_kconnect.airflow_plugin.runs import AirflowRuns
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.control.runs import Dag, DagTask, TaskRun
from airflow_kconnect.submit.dag_ids import dag_id_of, group_dag_id_of
from tests.support import unique
from tests.support.airflow.dags import add_dag

_DAG = """
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("{dag_id}", schedule=None):
    EmptyOperator(task_id="run")
"""
HOURLY = 'schedule="0 * * * *", start_date=__import__("datetime").datetime(2026, 1, 1), catchup=False'


def tasks_of(connector: str) -> list[DagTask]:
    """The task that runs it."""
    return [DagTask(dag_id_of(connector), "run")]


@pytest.fixture
def connector(airflow_database: Path, tmp_path: Path) -> str:
    """A connector whose DAG Airflow knows."""
    name = unique("connector")
    add_dag(tmp_path / "dags", _DAG.format(dag_id=dag_id_of(name)))
    return name


def test_a_restart_is_a_manual_run(connector: str) -> None:
    AirflowRuns().start(connector)
    (run,) = AirflowRuns().history(tasks_of(connector))
    assert (run["state"], run["id"].partition("__")[0]) == ("queued", "manual")
    assert run["url"] == f"/dags/kconnect.{connector}/runs/{quote(run['id'])}/tasks/run"


def test_a_replay_is_a_manual_run_with_parameters(connector: str) -> None:
    params = {"mode": "replay", "from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
    run_id = AirflowRuns().replay(connector, params)
    with create_session() as session:
        found = session.scalars(select(DagRun).where(DagRun.run_id == run_id)).one()
        assert (found.conf, found.run_type) == (params, "manual")


def test_a_stop_ends_runs_that_are_in_progress(connector: str) -> None:
    AirflowRuns().start(connector)
    AirflowRuns().end(connector)
    # Its task had not begun.
    assert [run["state"] for run in AirflowRuns().history(tasks_of(connector))] == ["skipped"]


def test_the_dag_of_a_deleted_connector_is_hidden_at_once_and_returns_with_it(connector: str, tmp_path: Path) -> None:
    runs = AirflowRuns()
    runs.start(connector)
    runs.forget(connector)
    assert _is_stale(connector)
    assert len(runs.history(tasks_of(connector))) == 1
    add_dag(tmp_path / "again", _DAG.format(dag_id=dag_id_of(connector)))
    assert not _is_stale(connector)


def _is_stale(connector: str) -> bool:
    with create_session() as session:
        return bool(session.scalars(select(DagModel.is_stale).where(DagModel.dag_id == dag_id_of(connector))).one())


def test_a_stop_without_a_run_does_nothing(connector: str) -> None:
    AirflowRuns().end(connector)
    assert AirflowRuns().history(tasks_of(connector)) == []


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
    (run,) = runs.history(tasks_of(connector))
    assert (run["records"]["written"], run["warnings"]) == (7, ["2 are lost"])


def test_a_dag_has_a_schedule_until_it_is_paused_or_gone(connector: str, tmp_path: Path) -> None:
    dag_id = dag_id_of(connector)
    add_dag(tmp_path / "hourly", _DAG.format(dag_id=dag_id).replace("schedule=None", HOURLY))
    _set_dag(connector, is_paused=False)
    found = ScheduledRuns().dags([dag_id, "kconnect.other"])
    assert (list(found), found[dag_id].schedule) == ([dag_id], "0 * * * *")
    assert found[dag_id].next_run_ms is not None
    _set_dag(connector, is_paused=True)
    assert ScheduledRuns().dags([dag_id])[dag_id] == Dag(None, "paused in Airflow")
    _set_dag(connector, is_stale=True)
    assert ScheduledRuns().dags([dag_id]) == {}


def test_a_dag_without_a_schedule_says_so(connector: str) -> None:
    _set_dag(connector, is_paused=False)
    assert ScheduledRuns().dags([dag_id_of(connector)])[dag_id_of(connector)] == Dag(None, "only when triggered")


@pytest.mark.parametrize(
    ("state", "in_progress", "succeeded"),
    [
        ("running", True, False),
        ("deferred", True, False),
        ("success", False, True),
        ("failed", False, False),
        ("up_for_retry", False, False),
    ],
)
def test_whether_a_task_is_in_progress(state: str, in_progress: bool, succeeded: bool, connector: str) -> None:
    runs = AirflowRuns()
    run_id = runs.replay(connector, {})
    task = TaskRun(dag_id_of(connector), "run", run_id)
    _end_task(connector, state)
    found = ScheduledRuns().task_states([task, task._replace(run="other")])
    assert list(found) == [task]
    assert (found[task].in_progress, found[task].succeeded) == (in_progress, succeeded)
    _end_task(connector, "success")  # a DAG with tasks in progress could not be deleted by other tests


def test_an_answer_of_the_database_is_kept_for_a_moment_for_all_who_ask() -> None:
    asked: list[Collection[str]] = []

    def ask(keys: Collection[str]) -> dict[str, int]:
        asked.append(set(keys))
        return dict.fromkeys(keys, 1)

    answers = Answers(ask, "these")
    assert answers.of(["a", "b"]) == answers.of(["a"])
    assert list(answers.of(["c"])) and asked == [{"a", "b"}, {"a", "b", "c"}]


def _set_dag(connector: str, **values: bool) -> None:
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id_of(connector)).values(**values))


def _end_task(connector: str, state: str) -> None:
    """As the scheduler does when the worker of a task sends no heartbeat any more."""
    with create_session() as session:
        task = session.scalars(select(TaskInstance).where(TaskInstance.dag_id == dag_id_of(connector))).one()
        task.state, task.end_date = state, datetime.now(UTC)


class TestGroups:
    @pytest.fixture
    def group(self, airflow_database: Path, tmp_path: Path) -> str:
        """A group whose DAG Airflow knows."""
        name = unique("group")
        add_dag(tmp_path / "dags", _DAG.format(dag_id=group_dag_id_of(name)))
        return name

    def runs_of(self, group: str) -> list[tuple[str, object]]:
        with create_session() as session:
            query = select(DagRun).where(DagRun.dag_id == group_dag_id_of(group)).order_by(DagRun.id)
            return [(run.state, run.conf) for run in session.scalars(query)]

    def test_a_restart_of_a_connector_runs_no_other(self, group: str) -> None:
        AirflowRuns(lambda name: group).start("a")
        assert self.runs_of(group) == [("queued", {"connectors": ["a"]})]

    def test_a_stop_of_a_connector_ends_no_run_of_others(self, group: str) -> None:
        runs = AirflowRuns(lambda name: group)
        runs.start("a")
        runs.start("b")
        runs.end("a")
        assert self.runs_of(group) == [("failed", {"connectors": ["a"]}), ("queued", {"connectors": ["b"]})]
