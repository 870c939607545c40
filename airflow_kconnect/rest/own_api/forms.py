"""`/v1/plugins` and `/v1/airflow-connections`: classes and connections to choose from, validation for a form."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from fastapi import APIRouter

from airflow_kconnect.control import checks, secrets
from airflow_kconnect.control.classes import catalogue, forms
from airflow_kconnect.rest.access import Access, AnyReader, may_write
from airflow_kconnect.rest.bodies import JsonBody, config_request
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/v1", tags=["page"])


@runtime_checkable
class NamesDatabases(Protocol):
    """A caller for whom Airflow has connections to databases."""

    def databases(self) -> list[dict[str, str]]:
        """Those that the caller may see, each by `conn_id` and `conn_type`; nothing else of them."""


@router.get("/airflow-connections")
def list_connections(access: Access) -> Any:
    """The connections that `${airflow:<conn_id>:jdbc_url}` can name, by id and type; none outside of Airflow."""
    return {"connections": access.databases() if isinstance(access, NamesDatabases) else []}


@router.get("/plugins")
def list_classes(plane: Plane, _: AnyReader) -> Any:
    """The connector classes that are installed, each with a sentence about when to take it."""
    return {"plugins": forms.connector_classes(plane.worker_props)}


@router.put("/plugins/{plugin}/config/validate")
def validate(plugin: str, plane: Plane, access: AnyReader, body: JsonBody) -> Any:
    """As Connect's validation; each key has a member `form`, too: choices, an example, whether it is shown at once.

    `test` says at which key the connection can be tested; null: it cannot.
    """
    config = config_request(body, nulls=True)
    # A class that tries a login must not try it with what stands for a password.
    hidden = secrets.still_hidden(config)
    config = {key: value for key, value in config.items() if key not in hidden}
    inspection = catalogue.inspected(plugin, config, plane.worker_props)
    for key, messages in hidden.items():
        inspection.add(key, *messages)
    may_ask = may_write(access, str(config.get("name") or ""))
    answer = forms.with_form(catalogue.described(inspection, config, asks_java=may_ask), inspection)
    return answer | {"test": checks.possible(plane, inspection)}
