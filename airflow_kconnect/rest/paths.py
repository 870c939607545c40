"""Names of connectors in paths: they may contain an encoded slash, which must not separate segments."""

from __future__ import annotations

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


ConnectorName = Annotated[str, Depends(_name)]
"""The name of a connector, from the path parameter `connector`."""
