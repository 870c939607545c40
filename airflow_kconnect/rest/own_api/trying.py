"""`/v1/connectors/{connector}/preview`, `/check` and `/replay`: see what a chain does to records, test a connection,
move records again.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from airflow_kconnect.control import checks, previews, replays
from airflow_kconnect.rest.access import Writing
from airflow_kconnect.rest.bodies import JsonBody, config_request, validated
from airflow_kconnect.rest.own_api.watching import Watching
from airflow_kconnect.rest.paths import ConnectorName
from airflow_kconnect.rest.serving import Plane
from airflow_kconnect.rest.threads import ThreadRoute

router = APIRouter(route_class=ThreadRoute, prefix="/v1/connectors/{connector}", tags=["page"])


class PreviewRequest(BaseModel):
    """Sample records; or the number of the latest ones in the sink's topics, or in `topic` alone, or of those that the
    source would read next.
    """

    model_config = ConfigDict(extra="forbid")

    records: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=previews.MOST_RECORDS)] | None = None
    latest: Annotated[int, Field(ge=1, le=previews.MOST_RECORDS, strict=True)] | None = None
    topic: str | None = None
    config: dict[str, Any] | None = None
    schemas: StrictBool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> PreviewRequest:
        if (self.records is None) == (self.latest is None):
            raise ValueError("give either `records` or `latest`")
        if self.topic is not None and self.latest is None:
            raise ValueError("`topic` chooses among the `latest` records: give `latest`, too")
        return self


class CheckRequest(BaseModel):
    """A configuration instead of the registered one."""

    model_config = ConfigDict(extra="forbid")

    config: dict[str, Any] | None = None


class ReplayRequest(BaseModel):
    """An interval (`from`, `to`), or dead letters."""

    model_config = ConfigDict(extra="forbid")

    begin: str | None = Field(None, alias="from")
    end: str | None = Field(None, alias="to")
    dead_letters: StrictBool = False
    dry_run: StrictBool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> ReplayRequest:
        interval = (self.begin is not None, self.end is not None)
        if interval != ((False, False) if self.dead_letters else (True, True)):
            raise ValueError("give either `from` and `to`, or `dead_letters`: true")
        return self


@router.post("/preview")
def preview(name: ConnectorName, plane: Plane, _: Writing, watch: Watching, body: JsonBody) -> Any:
    """What the converters and each transformation make of records; takes seconds, since Spark starts for it."""
    request = validated(PreviewRequest, body)
    if request.config is None:
        watch.check_registered(name)
    config = None if request.config is None else config_request(request.config)
    if request.latest is not None:
        return previews.of_live(plane, name, config, request.latest, request.topic, schemas=request.schemas)
    return previews.of_samples(plane, name, config, request.records or [], schemas=request.schemas)


@router.post("/check")
def check(name: ConnectorName, plane: Plane, _: Writing, body: JsonBody) -> Any:
    """Connect with a configuration: errors by key, and what there is to choose from, such as tables; takes seconds."""
    request = validated(CheckRequest, body)
    config = None if request.config is None else config_request(request.config)
    return checks.of_connection(plane, name, config)


@router.post("/replay", status_code=202)
def replay(name: ConnectorName, plane: Plane, _: Writing, watch: Watching, body: JsonBody) -> Any:
    """Start a run that moves an interval or the dead letters again; the live offsets stay where they are."""
    request = validated(ReplayRequest, body)
    watch.check_registered(name)
    if request.dead_letters:
        return replays.of_dead_letters(plane, name, dry_run=request.dry_run)
    return replays.of_interval(plane, name, str(request.begin), str(request.end), dry_run=request.dry_run)
