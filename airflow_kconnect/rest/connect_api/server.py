"""`/`, `/health` and `/admin/loggers`: the server itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from airflow_kconnect import __version__
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.control import loggers
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.plugins.registry import CONNECT_VERSION
from airflow_kconnect.rest.access import Access, AnyReader
from airflow_kconnect.rest.bodies import JsonBody
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, tags=["server"])

_HEALTH_THREADS = CapacityLimiter(4)


@router.get("/")
def get_root(plane: Plane, _: AnyReader) -> Any:
    """Version of Connect's API, version of this package, id of the Kafka cluster."""
    return {"version": CONNECT_VERSION, "commit": f"kconnect-{__version__}", "kafka_cluster_id": plane.cluster_id}


@router.get("/health")
async def get_health(request: Request) -> JSONResponse:
    """Whether requests can be answered (KIP-1017). Asks for no credentials, as in Connect."""
    # Threads of its own: it is to be answered while all others are busy.
    return await to_thread.run_sync(_health, request.app.state.plane, limiter=_HEALTH_THREADS)


def _health(get_plane: Callable[[], ControlPlane]) -> JSONResponse:
    try:
        plane = get_plane()
        plane.names()
    except ConnectError as error:
        return JSONResponse({"status": "starting", "message": f"Worker is still starting up. {error}"}, 503)
    problem = plane.problem
    if problem is not None:
        text = f"Worker was unable to handle this request and may be unable to handle other requests. {problem}"
        return JSONResponse({"status": "unhealthy", "message": text}, 500)
    text = "Worker has completed startup and is ready to handle requests."
    return JSONResponse({"status": "healthy", "message": text})


@router.get("/admin/loggers")
def list_loggers(_: AnyReader) -> Any:
    """The loggers of this process that have a level, and when it was set here."""
    return loggers.levels()


@router.get("/admin/loggers/{logger}")
def get_logger(logger: str, _: AnyReader) -> Any:
    """The level of a logger."""
    level = loggers.levels().get(logger)
    if level is None:
        raise RestError(404, f"Logger {logger} not found.")
    return level


@router.put("/admin/loggers/{logger}", response_model=None)
def set_level(
    logger: str, plane: Plane, access: Access, body: JsonBody, scope: Annotated[str, Query()] = "worker"
) -> list[str] | Response:
    """Set the level of a logger and of those below it until the process ends: of this one, or (`cluster`) of all."""
    access.check_write("")
    level = body.get("level") if isinstance(body, dict) else None
    if level is None:
        raise RestError(400, "Desired 'level' parameter was not specified in request.")
    if not loggers.is_level(str(level)):
        raise RestError(404, f"invalid log level '{level}'.")
    if scope.lower() == "cluster":
        plane.set_logger_level(logger, str(level))
        return Response(status_code=204)
    return loggers.set_level(logger, str(level))
