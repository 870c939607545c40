"""`/connectors`: create, list, show, change and delete connectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import URL

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import Access, Caller, Reading, Writing
from airflow_kconnect.rest.bodies import JsonBody, config_request, create_request
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute
from airflow_kconnect.submit.dag_ids import group_dag_id_of
from airflow_kconnect.validation.dag_keys import group_of

# What Connect leaves as it is.
_IN_PATHS = "/!$&'()*+,;=:@~"

router = APIRouter(route_class=ThreadRoute, prefix="/connectors", tags=["connectors"])


@router.get("")
def list_connectors(plane: Plane, access: Access, expand: Annotated[list[str] | None, Query()] = None) -> Any:
    """Names of the connectors that the caller may see; with `expand=status` or `expand=info` an object."""
    names = access.readable(plane.names())
    if expand is None:
        return names
    readable = set(names)
    return {name: parts for name, parts in plane.expanded(set(expand)).items() if name in readable}


@router.post("", status_code=201)
def create_connector(request: Request, plane: Plane, access: Access, body: JsonBody) -> JSONResponse:
    """Register a connector."""
    asked = create_request(body)
    access.check_write(asked.name)
    _check_others(asked.name, asked.config, plane, access)
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
def put_config(request: Request, name: ConnectorName, plane: Plane, access: Access, _: Writing, body: JsonBody) -> Any:
    """Register a connector, or replace its configuration."""
    config = config_request(body)
    _check_others(name, config, plane, access)
    created, info = plane.put_config(name, config)
    return _created(request, info) if created else info


@router.patch("/{connector}/config")
def patch_config(name: ConnectorName, plane: Plane, access: Access, _: Writing, body: JsonBody) -> Any:
    """Change some keys of a configuration; null removes one."""
    patch = config_request(body, nulls=True)
    _check_others(name, patch, plane, access)
    return plane.patch_config(name, patch)


@router.delete("/{connector}", status_code=204)
def delete_connector(name: ConnectorName, plane: Plane, _: Writing) -> Response:
    """Forget a connector; its offsets stay."""
    plane.delete(name)
    return Response(status_code=204)


def _check_others(name: str, config: Mapping[str, Any], plane: ControlPlane, access: Caller) -> None:
    """The offsets are those of the connectors that have the consumer group, and those of a DAG that has run one of this
    name; and the runs are those of the DAG of a group.

    :raises RestError: 403.
    """
    for other in plane.others_of_group(name, config):
        access.check_write(other)
    dag = plane.dag_of_runs(name)
    if dag is not None and not access.may_edit_dag(dag):
        raise RestError(403, f"{access} may not edit the DAG that runs connector {name}")
    group = group_of(config)
    if group is not None and group != plane.group_of(name) and not access.may_edit_dag(group_dag_id_of(group)):
        raise RestError(403, f"{access} may not edit the DAG of the group {group}")


def _created(request: Request, info: dict[str, Any]) -> JSONResponse:
    base = URL(scope=request.scope).replace(path=request.scope.get("root_path", ""), query="")
    location = f"{str(base).rstrip('/')}/connectors/{quote(info['name'], safe=_IN_PATHS)}"
    return JSONResponse(info, 201, {"Location": location})
