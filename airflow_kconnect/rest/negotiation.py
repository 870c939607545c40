"""What clients say about the form of a request: which answers they accept, what their flags mean."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import BeforeValidator

from airflow_kconnect.rest.errors import RestError

_JSON = ("application/json", "application/*", "*/*")


async def json_accepted(request: Request) -> None:
    """:raises RestError: 406, the client accepts other forms only."""
    accepted = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    if any(accepted) and not any(kind in _JSON for kind in accepted):
        raise RestError(406, "HTTP 406 Not Acceptable")


def java_flag(default: bool) -> BeforeValidator:
    """A flag in a query as JAX-RS reads it: `true` in any case; all else is false, and nothing is the default."""

    def parse(text: Any) -> bool:
        return default if text == "" else str(text).lower() == "true"

    return BeforeValidator(parse)
