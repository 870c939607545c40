"""The runs of a connector as Airflow knows them: also those that left no record, since their job never began."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XCOM_RETURN_KEY, XComModel
from airflow.utils.session import create_session
from airflow.utils.state import TaskInstanceState
from sqlalchemy import and_, or_, select

from airflow_kconnect.airflow_plugin.dags import ScheduledRuns
from airflow_kconnect.airflow_plugin.stored import epoch_ms, xcom_value
from airflow_kconnect.control.runs import DagTask, TaskRun

GROUP_OPERATOR = "KafkaConnectorGroupOperator"

_LATEST = 20
_STATES = {
    TaskInstanceState.SUCCESS.value: "success",
    TaskInstanceState.FAILED.value: "failed",
    TaskInstanceState.UP_FOR_RETRY.value: "failed",
    TaskInstanceState.RUNNING.value: "running",
    TaskInstanceState.DEFERRED.value: "running",
    TaskInstanceState.SKIPPED.value: "skipped",
    TaskInstanceState.UPSTREAM_FAILED.value: "skipped",
    TaskInstanceState.REMOVED.value: "skipped",
}
_WHY = {
    TaskInstanceState.FAILED.value: "it left no record of what it moved; see its log",
    TaskInstanceState.UP_FOR_RETRY.value: "it left no record of what it moved, and will be tried again; see its log",
    TaskInstanceState.UPSTREAM_FAILED.value: "a task before it has failed",
}


def history_of(tasks: Collection[DagTask]) -> list[dict[str, Any]]:
    """See `RemembersRuns`."""
    with create_session() as session:
        return [run for task in tasks for run in _runs_of(task, session)]


def _runs_of(task: DagTask, session: Any) -> list[dict[str, Any]]:
    latest = select(DagRun.run_id).where(DagRun.dag_id == task.dag).order_by(DagRun.run_after.desc()).limit(_LATEST)
    run_ids = list(session.scalars(latest))
    of_runs = and_(TaskInstance.dag_id == task.dag, TaskInstance.run_id.in_(run_ids))
    query = select(
        TaskInstance.run_id,
        TaskInstance.state,
        TaskInstance.start_date,
        TaskInstance.end_date,
        TaskInstance.try_number,
    ).where(of_runs, TaskInstance.task_id == task.task, TaskInstance.map_index < 0, _of_one_connector())
    reports = _reports(task, run_ids, session)
    return [_run(task, row, reports.get(row.run_id, {})) for row in session.execute(query)]


def _of_one_connector() -> Any:
    """A group's task has run several, and its state says nothing about one of them: their records do."""
    return or_(TaskInstance.operator.is_(None), TaskInstance.operator != GROUP_OPERATOR)


def _run(task: DagTask, row: Any, report: Mapping[str, Any]) -> dict[str, Any]:
    state = _STATES.get(row.state, "queued")
    return {
        "id": row.run_id,
        "state": state,
        "start_ms": epoch_ms(row.start_date),
        "end_ms": None if state in ("queued", "running") else epoch_ms(row.end_date),
        "records": report.get("records", {}),
        "warnings": report.get("warnings", []),
        "warning_kinds": report.get("warning_kinds", []),
        "complete": report.get("complete") is True,
        "replay": report.get("replay"),
        "error": None if report else _WHY.get(row.state),
        "progress": None,
        "origin": {"dag": task.dag, "task": task.task, "run": row.run_id, "map_index": -1, "try": row.try_number},
        "url": ScheduledRuns.log_url(TaskRun(task.dag, task.task, row.run_id), row.try_number),
    }


def _reports(task: DagTask, run_ids: list[str], session: Any) -> dict[str, Mapping[str, Any]]:
    """What the task has returned, by run."""
    rows = session.execute(
        select(XComModel.run_id, XComModel.value).where(
            XComModel.dag_id == task.dag,
            XComModel.task_id == task.task,
            XComModel.run_id.in_(run_ids),
            XComModel.key == XCOM_RETURN_KEY,
        )
    )
    parsed = {run_id: xcom_value(value) for run_id, value in rows}
    return {
        run_id: report
        for run_id, report in parsed.items()
        if isinstance(report, dict) and isinstance(report.get("records"), dict)
    }
