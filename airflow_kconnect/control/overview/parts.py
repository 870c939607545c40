"""The list of connectors, or of lags, in parts: a caller who asks again gets those that have changed. No I/O.

A part is known by what it holds: any process that knows the same connectors gives it the same name, so it does not
matter which of several servers answers.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

COUNT = 32
# Hex digits of a part: one that has changed is taken for the same once in four billion times.
_DIGITS = 8


def changed(rows: Iterable[Mapping[str, Any]], known: str) -> tuple[str, dict[str, list[Mapping[str, Any]]]]:
    """What the caller needs to know all rows: a tag, and the rows of each part that has changed.

    :param rows: each with a `name`, which says to which part it belongs.
    :param known: the tag of the last answer; anything else is as if nothing was known.
    :returns: the tag to ask with the next time, and number of a part -> all its rows.
    """
    parts: list[list[Mapping[str, Any]]] = [[] for _ in range(COUNT)]
    for row in rows:
        parts[zlib.crc32(str(row["name"]).encode("utf-8", "surrogatepass")) % COUNT].append(row)
    for part in parts:
        part.sort(key=itemgetter("name"))
    names = [_name(part) for part in parts]
    before = [known[at : at + _DIGITS] for at in range(0, len(known), _DIGITS)]
    if len(before) != COUNT:
        before = [""] * COUNT
    return "".join(names), {str(at): parts[at] for at in range(COUNT) if names[at] != before[at]}


def _name(part: list[Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(part).encode()).hexdigest()[:_DIGITS]
