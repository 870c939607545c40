"""Requests with too many or too long headers are refused before anything else is done for them."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from airflow_kconnect.rest.errors import error_body

# Twice what Connect's server takes: cookies of other pages of an Airflow may be among them.
MOST_BYTES = 16_384


class HeadersOfBoundedSize:
    """Answers 431 to requests whose headers have more than `MOST_BYTES`, names and values together."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = sum(len(name) + len(value) for name, value in scope.get("headers", ()))
        if scope["type"] != "http" or size <= MOST_BYTES:
            await self._app(scope, receive, send)
        else:
            refusal = error_body(431, f"The headers have {size} bytes; at most {MOST_BYTES} are accepted")
            await refusal(scope, receive, send)
