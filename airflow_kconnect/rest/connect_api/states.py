"""`/connectors/{connector}/...`: status, tasks, topics; pause, resume, stop and restart."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse

from airflow_kconnect.rest.access import Reading, Writing
from airflow_kconnect.rest.negotiation import java_flag
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute
from airflow_kconnect.stores.target_states import TargetState

router = APIRouter(route_class=ThreadRoute, prefix="/connectors/{connector}", tags=["states"])

# As many as Java has.
TaskNumber = Annotated[int, Path(ge=-(2**31), lt=2**31)]


@router.get("/status")
def get_status(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """States of a connector and of its tasks."""
    return plane.status(name)


@router.get("/tasks")
def get_tasks(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """The tasks of a connector with their configurations."""
    return plane.tasks(name)


@router.get("/tasks/{task}/status")
def get_task_status(name: ConnectorName, task: TaskNumber, plane: Plane, _: Reading) -> Any:
    """The state of a task."""
    return plane.task_status(name, task)


@router.put("/pause", status_code=202)
def pause(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """Its next runs do nothing; a run in progress finishes."""
    plane.set_target_state(name, TargetState.PAUSED)
    return Response(status_code=202)


@router.put("/resume", status_code=202)
def resume(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """Its next run resumes from the committed offsets."""
    plane.set_target_state(name, TargetState.STARTED)
    return Response(status_code=202)


@router.put("/stop", status_code=204)
def stop(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """As if paused; a run in progress is ended, and the offsets may be altered."""
    plane.set_target_state(name, TargetState.STOPPED)
    return Response(status_code=204)


@router.post("/restart", status_code=204)
def restart(
    name: ConnectorName,
    plane: Plane,
    _: Writing,
    include_tasks: Annotated[bool, java_flag(False), Query(alias="includeTasks")] = False,
    only_failed: Annotated[bool, java_flag(False), Query(alias="onlyFailed")] = False,
) -> Response:
    """Start a run now."""
    plan = plane.restart(name, include_tasks=include_tasks, only_failed=only_failed)
    return JSONResponse(plan, 202) if include_tasks or only_failed else Response(status_code=204)


@router.post("/tasks/{task}/restart", status_code=204)
def restart_task(name: ConnectorName, task: TaskNumber, plane: Plane, _: Writing) -> Response:
    """Start a run now: tasks have no runs of their own."""
    plane.restart_task(name, task)
    return Response(status_code=204)


@router.get("/topics")
def get_topics(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """The topics that the connector has used."""
    return plane.topics(name)


@router.put("/topics/reset", status_code=202)
def reset_topics(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """Forget which topics the connector has used."""
    plane.reset_topics(name)
    return Response(status_code=202)
