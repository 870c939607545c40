"""`/v1/connectors/bulk`: one action on several connectors, each with the caller's rights."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from airflow_kconnect.control import bulk
from airflow_kconnect.control.overview.watch import Watch, not_registered
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import Access, Caller
from airflow_kconnect.rest.bodies import JsonBody, validated
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.own_api.seeing import may_see
from airflow_kconnect.rest.own_api.watching import Watching
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

log = logging.getLogger("kconnect.rest")

router = APIRouter(route_class=ThreadRoute, prefix="/v1/connectors", tags=["page"])

_MOST = 10_000


class BulkRequest(BaseModel):
    """What to do, and to which connectors."""

    model_config = ConfigDict(extra="forbid")

    action: bulk.Action
    names: Annotated[list[str], Field(min_length=1, max_length=_MOST)]


@router.post("/bulk")
def act(access: Access, plane: Plane, watch: Watching, body: JsonBody) -> Any:
    """Pause, resume or stop connectors, or restart those that have failed; says what happened to each.

    A connector that the caller may not change, that is not registered or does not exist is one of the answers.
    """
    request = validated(BulkRequest, body)
    log.info("%s asks to %s %r", access, request.action, request.names)
    results = bulk.act(plane, watch, request.action, request.names, lambda name: _refusal(access, plane, watch, name))
    return {"results": results}


def _refusal(caller: Caller, plane: ControlPlane, watch: Watch, name: str) -> str | None:
    try:
        caller.check_write(name)
    except RestError as error:
        return error.message
    if name in plane.registered():
        return None
    known = watch.unregistered(name)
    return not_registered(name) if known is not None and may_see(caller, known) else f"Connector {name} not found"
