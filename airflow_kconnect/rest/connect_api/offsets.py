"""`/connectors/{connector}/offsets`: show, alter and reset offsets (KIP-875)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from airflow_kconnect.rest.access import Access, Reading, Writing
from airflow_kconnect.rest.bodies import JsonBody
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/connectors/{connector}/offsets", tags=["offsets"])


@router.get("")
def get_offsets(name: ConnectorName, plane: Plane, _: Reading) -> Any:
    """The committed offsets."""
    return plane.offsets(name)


@router.patch("")
def alter_offsets(name: ConnectorName, plane: Plane, access: Access, _: Writing, body: JsonBody) -> Any:
    """Alter offsets of a stopped connector; a null offset resets its partition."""
    if not isinstance(body, dict):
        raise RestError(400, 'Offsets are a JSON object: {"offsets": [{"partition": {...}, "offset": {...}}, ...]}')
    return plane.alter_offsets(name, body, access.check_write)


@router.delete("")
def reset_offsets(name: ConnectorName, plane: Plane, access: Access, _: Writing) -> Any:
    """Delete all offsets of a stopped connector."""
    return plane.reset_offsets(name, access.check_write)
