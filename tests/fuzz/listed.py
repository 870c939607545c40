"""The differences that docs/compatibility.md lists, each with what tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.fuzz.comparison import Difference

Tells = Callable[[Difference], bool]


def family_of(found: Difference) -> str | None:
    """The name of the listed family to which a difference belongs; None if it is not listed."""
    return next((name for name, tells in LISTED.items() if tells(found)), None)


def _beyond_64_bits(found: Difference) -> bool:
    numbers = re.findall(r"-?\b\d{19,}\b", found.given)
    return any(not -(2**63) <= int(number) < 2**63 for number in numbers)


def _schemaless_date(found: Difference) -> bool:
    return found.what == "error, record" and _has(found, "TimestampConverter") and "java.util.Date" in str(found.theirs)


def _primitive_numbers(found: Difference) -> bool:
    return found.what == "error, record" and "is not compatible with objects of type" in str(found.theirs)


def _java_identity(found: Difference) -> bool:
    return "[B@" in str(found.theirs) or "HeapByteBuffer" in str(found.theirs)


def _router(found: Difference) -> bool:
    return found.record is None and any(re.search("Router", kind) for kind in found.types) and "Router" in str(found)


def _has(found: Difference, *types: str) -> bool:
    return any(kind.partition("$")[0] in types for kind in found.types)


LISTED: Mapping[str, Tells] = {
    "an integer beyond 64 bits keeps its value": _beyond_64_bits,
    "a date without schema is written as ISO text": _schemaless_date,
    "primitive converters take any schemaless number that fits": _primitive_numbers,
    "StringConverter writes bytes as base64": _java_identity,
}
