"""The forms in which a secret may appear in a text: as it is, escaped, in a URL, line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus


def secret_forms(value: str) -> Iterator[str]:
    """The forms that a value may take in logs and errors, the value itself first; some may be equal."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield quote(value, errors="replace")
    yield quote(value, safe="", errors="replace")
    yield quote_plus(value, errors="replace")
    lines = value.splitlines()
    if len(lines) > 1:
        # Lines that are not secret by themselves: brackets, the frame of a PEM file.
        yield from (line for line in lines if len(line) > 4 and not line.startswith("-----"))


def in_texts(hide: Callable[[str], str], data: Any) -> Any:
    """JSON data with the secrets in its texts hidden; names of members stay, and numbers.

    Not in the encoded data: a secret may be `true`, or the name of a member.
    """
    match data:
        case str():
            return hide(data)
        case dict():
            return {name: in_texts(hide, value) for name, value in data.items()}
        case list() | tuple():
            return [in_texts(hide, value) for value in data]
        case _:
            return data
