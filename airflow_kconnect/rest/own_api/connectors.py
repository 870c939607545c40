"""`/v1/connectors` and `/v1/lags`: all connectors in short, one in full, the lag of sinks, offsets, dead letters.

All of them: also those that are not registered, and run from a DAG or a file. Those can be looked at.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from airflow_kconnect.control import validation
from airflow_kconnect.control.overview import parts
from airflow_kconnect.control.previews import reads_source, unread_source
from airflow_kconnect.control.replays import can_replay
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.rest.access import Access, Writing, may_write
from airflow_kconnect.rest.bodies import JsonBody, config_request
from airflow_kconnect.rest.own_api.seeing import check_records_seen, check_seen, visible
from airflow_kconnect.rest.own_api.watching import Watching
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/v1", tags=["page"])


@router.get("/connectors")
def get_overview(access: Access, plane: Plane, watch: Watching, known: str | None = None) -> Any:
    """The connectors that the caller may see, in short; `problem` says why that may be old.

    With `known`, which is empty at first and then the `tag` of the last answer: only those `parts` that have changed,
    each with all of its connectors. A connector that is missing in its part is gone.
    """
    seen = watch.look()
    rows = seen.rows(visible(access, seen))
    if known is None:
        return JSONResponse({"connectors": rows, "problem": plane.problem})
    tag, changed = parts.changed(rows, known)
    # Made here, in a thread: FastAPI would look at each value of a thousand rows again, in the server's loop.
    return JSONResponse({"tag": tag, "parts": changed, "problem": plane.problem})


@router.get("/lags")
def get_lags(access: Access, watch: Watching, known: str | None = None) -> Any:
    """The lag in records of the sinks that the caller may see; those that are not known are left out.

    With `known`, see `/v1/connectors`: only the `parts` that have changed, of objects with `name` and `lag`.
    """
    seen = watch.look()
    found = watch.lags(seen, set(visible(access, seen)))
    if known is None:
        return asdict(found)
    tag, changed = parts.changed(({"name": name, "lag": lag} for name, lag in found.lags.items()), known)
    return {"tag": tag, "parts": changed, "problem": found.problem, "at_ms": found.at_ms}


@router.get("/connectors/{connector}")
def get_detail(name: ConnectorName, access: Access, plane: Plane, watch: Watching) -> Any:
    """One connector in full, secrets `[hidden]`.

    `may_write`: may be changed; `may_replay`: runs can start that move records again; `reads_source`: a preview can
    read what the source would read next, else `unread_source` says why not. None of them holds for a connector that is
    not registered. `problem` says why all of it may be old.
    """
    check_seen(access, watch, name)
    found = watch.detail(name)
    config = plane.registered_config(name) if found["registered"] else None
    return {
        **found,
        "may_write": config is not None and may_write(access, name),
        "may_replay": config is not None and can_replay(plane) and not looks_hosted(config),
        "reads_source": config is not None and reads_source(plane, config),
        "unread_source": unread_source(plane, config) if config is not None else None,
        "problem": plane.problem,
    }


@router.get("/connectors/{connector}/offsets")
def get_offsets(name: ConnectorName, access: Access, watch: Watching) -> Any:
    """The committed offsets, as Connect's API answers them for registered connectors."""
    check_seen(access, watch, name)
    return {"offsets": watch.offsets(name)}


@router.put("/connectors/{connector}/config/validate")
def validate(name: ConnectorName, plane: Plane, _: Writing, watch: Watching, body: JsonBody) -> Any:
    """As Connect's validation, of a configuration whose `[hidden]` values are those that are registered."""
    watch.check_registered(name)
    return validation.of_change(plane, name, config_request(body))


@router.get("/connectors/{connector}/dead-letters")
def count_dead_letters(name: ConnectorName, access: Access, watch: Watching) -> Any:
    """The topic of dead letters, how many records it holds, and how many of them a sink has not replayed."""
    check_seen(access, watch, name)
    return watch.dead_letters(name)


@router.get("/connectors/{connector}/dead-letters/last")
def show_dead_letters(
    name: ConnectorName, access: Access, watch: Watching, most: Annotated[int, Query(ge=1, le=100)] = 20
) -> Any:
    """The last dead letters of the connector with their contents; for those who may change it."""
    check_records_seen(access, watch, name)
    return {"dead_letters": watch.last_dead_letters(name, most)}
