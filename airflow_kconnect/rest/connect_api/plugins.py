"""`/connector-plugins`: what is installed, its keys, and validation of configurations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from airflow_kconnect.control.classes import catalogue
from airflow_kconnect.rest.access import AnyReader, may_write
from airflow_kconnect.rest.bodies import JsonBody, config_request
from airflow_kconnect.rest.negotiation import java_flag
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/connector-plugins", tags=["plugins"])


@router.get("")
def list_plugins(
    plane: Plane,
    _: AnyReader,
    connectors_only: Annotated[bool, java_flag(True), Query(alias="connectorsOnly")] = True,
) -> Any:
    """The connectors that are installed; with `connectorsOnly=false` all plugins."""
    return catalogue.plugin_list(plane.worker_props, connectors_only=connectors_only)


@router.get("/{plugin}/config")
def get_keys(plugin: str, plane: Plane, _: AnyReader, version: str | None = None) -> Any:
    """The keys of a plugin; of a Java class in the newest version that is installed, or in another."""
    return catalogue.plugin_keys(plugin, plane.worker_props, None if version == "latest" else version)


@router.put("/{plugin}/config/validate")
def validate(plugin: str, plane: Plane, access: AnyReader, body: JsonBody) -> Any:
    """Every key of a configuration with its definition, value and errors; nothing is registered.

    A Java class is asked only for callers who may change the connector: it may connect to what the configuration names.
    """
    config = config_request(body, nulls=True)
    may_ask = may_write(access, str(config.get("name") or ""))
    return catalogue.validation(plugin, config, plane.worker_props, asks_java=may_ask)
