"""How a secret may be written in a text: as it is, escaped, in a URL, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus


def secret_forms(value: str) -> Iterator[str]:
    """The forms of a value that logs and errors may have, itself first; some are equal."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield quote(value, errors="replace")
    yield quote(value, safe="", errors="replace")
    yield quote_plus(value, errors="replace")
    lines = value.splitlines()
    if len(lines) > 1:
        # Those that are no secret by themselves: brackets, the frame of a PEM file.
        yield from (line for line in lines if len(line) > 4 and not line.startswith("-----"))
