"""`GET /v1/reports`: what the connector tasks of a DAG run have reported. The tab at a DAG run shows it."""

from __future__ import annotations

from typing import Annotated, Any

from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XCOM_RETURN_KEY, XComModel
from airflow.utils.session import create_session
from airflow.utils.state import State
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import select

from airflow_kconnect.airflow_plugin.security import check_reports
from airflow_kconnect.airflow_plugin.stored import epoch_ms, xcom_value
from airflow_kconnect.operators.reports.failures import FAILURE
from airflow_kconnect.rest.threads import ThreadRoute

# Classes of users' own are found by what they have left.
_OPERATORS = ("KafkaSourceOperator", "KafkaSinkOperator", "ReplayDeadLettersOperator", "KafkaConnectorGroupOperator")
_LISTS, _MOST = ("offsets", "ranges", "warnings", "incomplete"), 100
_MOST_OF_GROUP = 100

DagId = Annotated[str, Query(alias="dag_id", min_length=1)]


def _allowed(request: Request, dag: DagId) -> None:
    check_reports(request, dag)


router = APIRouter(route_class=ThreadRoute, prefix="/v1", tags=["page"], dependencies=[Depends(_allowed)])


@router.get("/reports")
def get_reports(dag: DagId, run: Annotated[str, Query(alias="run_id", min_length=1)]) -> Any:
    """The connector tasks of a DAG run by their start: `task_id`, `map_index`, `try_number`, `operator`, `state`,
    `start_ms`, `end_ms`, `report`, `failure`. A group has one entry for each connector: at most 100, those that failed
    or moved something first; `more` says how many there are beyond them.

    `report` is that of the run, with at most 100 offsets, ranges and warnings; `failure` is the error's name and text.
    Either is null if there is none. `ended`: whether nothing will be added. For those who may read XComs of the DAG; a
    run that does not exist has ended, and no tasks.
    """
    with create_session() as session:
        query = select(TaskInstance).where(TaskInstance.dag_id == dag, TaskInstance.run_id == run)
        tasks = list(session.scalars(query.order_by(TaskInstance.start_date, TaskInstance.task_id)))
        left = _left(dag, run, session)
        state = session.scalar(select(DagRun.state).where(DagRun.dag_id == dag, DagRun.run_id == run))
        shown = [each for task in tasks for each in _shown(task, left.get((task.task_id, task.map_index), {}))]
    moving = [each for each in shown if each["operator"] in _OPERATORS or each["report"] or each["failure"]]
    more = sum(each.pop("more") for each in shown)
    return {"tasks": moving, "more": more, "ended": state is None or state in State.finished_dr_states}


def _left(dag: str, run: str, session: Any) -> dict[tuple[str, int], dict[str, Any]]:
    """The XComs by task and key."""
    columns = (XComModel.task_id, XComModel.map_index, XComModel.key, XComModel.value)
    of_run = (XComModel.dag_id == dag, XComModel.run_id == run, XComModel.key.in_((XCOM_RETURN_KEY, FAILURE)))
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for task_id, map_index, key, value in session.execute(select(*columns).where(*of_run)):
        found.setdefault((task_id, map_index), {})[key] = xcom_value(value)
    return found


def _shown(task: TaskInstance, left: dict[str, Any]) -> list[dict[str, Any]]:
    """The entry of a task; one for each connector if it has several."""
    failure, returned = left.get(FAILURE), left.get(XCOM_RETURN_KEY)
    if isinstance(failure, list):
        return _of_group(task, [each for each in failure if isinstance(each, dict)])
    if (
        isinstance(returned, dict)
        and _report(returned) is None
        and (reports := list(filter(_report, returned.values())))
    ):
        return _of_group(task, [{"report": report} for report in reports])
    of_failure = failure.pop("report", None) if isinstance(failure, dict) else None
    return [_entry(task, of_failure or returned, failure if isinstance(failure, dict) else None)]


def _of_group(task: TaskInstance, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    entries = []
    for part in parts:
        report = part.pop("report", None)
        entry = _entry(task, report, part or None)
        entries.append(entry if part else {**entry, "state": "success"})
    entries.sort(key=lambda entry: (entry["failure"] is None, not _moved(entry["report"])))
    if len(entries) > _MOST_OF_GROUP:
        entries[0]["more"] = len(entries) - _MOST_OF_GROUP
    return entries[:_MOST_OF_GROUP]


def _moved(report: dict[str, Any] | None) -> bool:
    return report is not None and any(report["records"].values())


def _entry(task: TaskInstance, report: Any, failure: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "map_index": task.map_index,
        "try_number": task.try_number,
        "operator": task.operator,
        "state": None if task.state is None else str(task.state),
        "start_ms": epoch_ms(task.start_date),
        "end_ms": epoch_ms(task.end_date),
        "report": _report(report),
        "failure": failure,
        "more": 0,
    }


def _report(value: Any) -> dict[str, Any] | None:
    """What a task has left if it is a report, cut: there are as many offsets as the connector has partitions."""
    if not isinstance(value, dict) or "connector" not in value or not isinstance(value.get("records"), dict):
        return None
    lists = {key: list(value.get(key) or ()) for key in _LISTS}
    return {**value, **{key: each[:_MOST] for key, each in lists.items()}, "partitions": len(lists["offsets"])}
