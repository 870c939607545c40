"""Paths as JAX-RS reads them: an encoded slash separates no segments, and a slash at the end means nothing."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path
from starlette.types import ASGIApp, Receive, Scope, Send

# A private character: no path contains it, and names that contain it are not found.
_SLASH = "\ue02f"


class SegmentsDecodedAlone:
    """Decodes each segment of a path by itself, as JAX-RS does: `/connectors/a%2Fb` names the connector `a/b`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw is not None and b"%2f" in raw.lower():
            segments = raw.decode("latin-1").partition("?")[0].split("/")
            scope = {**scope, "path": "/".join(unquote(segment).replace("/", _SLASH) for segment in segments)}
        await self._app(scope, receive, send)


async def _name(connector: Annotated[str, Path()]) -> str:
    return connector.replace(_SLASH, "/")


class SlashAtTheEnd:
    """Answers `/connectors/` as `/connectors`: clients such as kcctl ask so.

    :param kept: paths for which the slash makes a difference.
    """

    def __init__(self, app: ASGIApp, kept: Container[str] = ("/",)) -> None:
        self._app, self._kept = app, kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path.endswith("/") and path.removeprefix(_mount(scope)) not in self._kept:
            scope = {**scope, "path": path[:-1]}
        await self._app(scope, receive, send)


def _mount(scope: Scope) -> str:
    return str(scope.get("root_path", ""))


ConnectorName = Annotated[str, Depends(_name)]
"""The name of a connector, from the path parameter `connector`."""
