"""`/connectors`: create, list, show, change and delete connectors."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import URL

from airflow_kconnect.rest.access import Access, Reading, Writing
from airflow_kconnect.rest.bodies import JsonBody, config_request, create_request
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/connectors", tags=["connectors"])


@router.get("")
def list_connectors(plane: Plane, access: Access, expand: Annotated[list[str] | None, Query()] = None) -> Any:
    """Names of the connectors that the caller may see; with `expand=status` or `expand=info` an object."""
    names = access.readable(plane.names())
    if expand is None:
        return names
    return {name: parts for name, parts in plane.expanded(set(expand)).items() if name in set(names)}


@router.post("", status_code=201)
def create_connector(request: Request, plane: Plane, access: Access, body: JsonBody) -> JSONResponse:
    """Register a connector."""
    asked = create_request(body)
    access.check_write(asked.name)
    return _created(request, plane.create(asked.name, asked.config, asked.target_state))


@router.get("/{connector}")
def get_connector(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """Configuration, tasks and type of a connector."""
    return plane.info(name)


@router.get("/{connector}/config")
def get_config(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """The configuration of a connector; secrets are `[hidden]`."""
    return plane.config(name)


@router.put("/{connector}/config")
def put_config(request: Request, name: ConnectorName, plane: Plane, body: JsonBody, _: Writing) -> Any:
    """Register a connector, or replace its configuration."""
    created, info = plane.put_config(name, config_request(body))
    return _created(request, info) if created else info


@router.patch("/{connector}/config")
def patch_config(name: ConnectorName, plane: Plane, body: JsonBody, _: Writing) -> Any:
    """Change some keys of a configuration; null removes one."""
    return plane.patch_config(name, config_request(body, patch=True))


@router.delete("/{connector}", status_code=204)
def delete_connector(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """Forget a connector; its offsets stay."""
    plane.delete(name)
    return Response(status_code=204)


def _created(request: Request, info: dict[str, Any]) -> JSONResponse:
    base = URL(scope=request.scope).replace(path=request.scope.get("root_path", ""), query="")
    location = f"{str(base).rstrip('/')}/connectors/{info['name']}"
    return JSONResponse(info, 201, {"Location": location})
