"""Methods that each path has besides its own, as in JAX-RS: HEAD, and OPTIONS, which tells the methods."""

from __future__ import annotations

from fastapi.responses import PlainTextResponse
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from airflow_kconnect.rest.errors import error_body


class HeadAsGet:
    """Answers HEAD as GET, without the body: probes of load balancers and monitoring send it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


class MethodsOfPaths:
    """Tells what may be asked of a path. Pages of other sites learn nothing by it: there are no CORS headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "OPTIONS":
            await self._app(scope, receive, send)
            return
        methods = _methods(scope)
        if methods:
            known = ", ".join(sorted({*methods, "OPTIONS"}))
            await PlainTextResponse(known, headers={"Allow": known})(scope, receive, send)
        else:
            await error_body(404, "HTTP 404 Not Found")(scope, receive, send)


def _methods(scope: Scope) -> set[str]:
    routes = [route for route in scope["app"].routes if isinstance(route, Route)]
    found = {name for route in routes if route.matches(scope)[0] is not Match.NONE for name in route.methods or ()}
    return found | ({"HEAD"} if "GET" in found else set())
