"""The FastAPI app of Connect's REST API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.middleware.gzip import GZipMiddleware

from airflow_kconnect import __version__
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import AccessPolicy
from airflow_kconnect.rest.connect_api import connectors, offsets, plugins, server, states
from airflow_kconnect.rest.errors import handle_errors
from airflow_kconnect.rest.headers import HeadersOfBoundedSize
from airflow_kconnect.rest.methods import HeadAsGet, MethodsOfPaths
from airflow_kconnect.rest.negotiation import json_accepted
from airflow_kconnect.rest.own_api import bulk, forms, page, trying
from airflow_kconnect.rest.own_api import connectors as own_connectors
from airflow_kconnect.rest.paths import SegmentsDecodedAlone, SlashAtTheEnd


def create_app(plane: Callable[[], ControlPlane], access: AccessPolicy, dependencies: Sequence[Any] = ()) -> FastAPI:
    """The app; it can be served alone or mounted under a path.

    :param plane: called with each request that needs the control plane; what it raises is answered.
    :param access: decides about each request.
    :param dependencies: of FastAPI, called before that for each request.
    """
    app = FastAPI(
        title="airflow_kconnect",
        summary="Kafka Connect's REST API, without a Connect cluster",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        dependencies=list(dependencies),
        redirect_slashes=False,
    )
    app.state.plane, app.state.access = plane, access
    for module in (server, connectors, states, offsets, plugins):
        app.include_router(module.router, dependencies=[Depends(json_accepted)])
    for module in (bulk, own_connectors, forms, trying, page):
        app.include_router(module.router)
    handle_errors(app)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(HeadAsGet)
    app.add_middleware(MethodsOfPaths)
    app.add_middleware(SlashAtTheEnd, kept=("/", "/ui/"))
    app.add_middleware(SegmentsDecodedAlone)
    app.add_middleware(HeadersOfBoundedSize)
    return app
