"""How fresh a connector's data is, as Airflow's scheduler asks for it when it creates a DAG run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.connector_tasks import report

pytestmark = needs_airflow_3_3

_DAG = """
from datetime import timedelta

from airflow.sdk import DAG, AsyncCallback, DeadlineAlert
from airflow.providers.standard.operators.empty import EmptyOperator

from airflow_kconnect import FreshBy

with DAG(
    {dag_id!r},
    schedule=None,
    deadline=DeadlineAlert(
        reference=FreshBy(task_id="read"),
        interval=timedelta(hours=2),
        callback=AsyncCallback("tests.airflow.test_deadlines.tell"),
    ),
):
    EmptyOperator(task_id="read")
"""
LAST = datetime(2026, 1, 1, 10, tzinfo=UTC)


async def tell(**_: object) -> None:
    """What a deadline calls."""


@pytest.fixture
def dag_id(airflow_database: Path, tmp_path: Path) -> str:
    made = unique("fresh")
    add_dag(tmp_path / "dags", _DAG.format(dag_id=made))
    return made


def _run(dag_id: str, moment: datetime | None = None, left: Any = None) -> str:
    """A run; with a moment it has ended, and its task began then."""
    from airflow.api.common.trigger_dag import trigger_dag
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from airflow.utils.types import DagRunTriggeredByType
    from sqlalchemy import update

    run = trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.TEST, run_id=unique("run"))
    assert run is not None
    if moment is not None:
        with create_session() as session:
            of_run = update(TaskInstance).where(TaskInstance.run_id == run.run_id)
            session.execute(of_run.values(state="success", start_date=moment))
        if left is not None:
            XComModel.set("return_value", left, dag_id=dag_id, run_id=run.run_id, task_id="read")
    return str(run.run_id)


def _deadline(dag_id: str, run_id: str) -> datetime:
    from airflow.models.dagrun import DagRun
    from airflow.models.deadline import Deadline
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        query = select(Deadline.deadline_time).join(DagRun, Deadline.dagrun_id == DagRun.id)
        return session.scalars(query.where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)).one()


def test_a_run_has_to_end_before_the_data_is_too_old(dag_id: str) -> None:
    _run(dag_id, LAST, report())
    assert _deadline(dag_id, _run(dag_id)) == LAST + timedelta(hours=2)


def test_runs_that_leave_something_and_replays_make_nothing_fresh(dag_id: str) -> None:
    _run(dag_id, LAST, report())
    _run(dag_id, LAST + timedelta(hours=1), report(incomplete=["max_records"]))
    _run(dag_id, LAST + timedelta(hours=2), report(replay="2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"))
    assert _deadline(dag_id, _run(dag_id)) == LAST + timedelta(hours=2)


def test_a_run_without_a_report_counts(dag_id: str) -> None:
    _run(dag_id, LAST)
    assert _deadline(dag_id, _run(dag_id)) == LAST + timedelta(hours=2)


def test_before_the_first_run_the_time_begins_now(dag_id: str) -> None:
    before = datetime.now(UTC)
    deadline = _deadline(dag_id, _run(dag_id))
    assert before <= deadline - timedelta(hours=2) <= datetime.now(UTC)


def test_a_reference_without_a_task_is_an_error() -> None:
    from airflow_kconnect import FreshBy

    with pytest.raises(ValueError, match="task_id"):
        FreshBy()
