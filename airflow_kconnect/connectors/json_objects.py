"""Keys of connectors whose values are objects of JSON, and keys with a prefix."""

from __future__ import annotations

import json
from collections.abc import Mapping


def object_problem(text: str) -> str | None:
    """Why a text is not an object of JSON. Never quotes it: there may be secrets in it."""
    try:
        value = json.loads(text)
    except ValueError as error:
        place = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        return f"is not JSON{place}"
    return None if isinstance(value, dict) else "is JSON, but not an object"


def with_prefix(prefix: str, props: Mapping[str, str]) -> dict[str, str]:
    """Those keys that begin with it, without it."""
    return {key.removeprefix(prefix): text for key, text in props.items() if key.startswith(prefix)}
