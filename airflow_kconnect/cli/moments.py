"""Moments and durations for the eye."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def ago(at_ms: int | None, now_ms: int | None = None) -> str:
    """How long ago something was: `5 min ago`; empty if that is not known.

    :param now_ms: None means now.
    """
    if at_ms is None:
        return ""
    return f"{roughly((now_ms or _now_ms()) - at_ms)} ago"


def ahead(at_ms: int | None, now_ms: int | None = None) -> str:
    """When something will be: `in 5 min`; `due` if it should have been already; empty if that is not known."""
    if at_ms is None:
        return ""
    left = at_ms - (now_ms or _now_ms())
    return f"in {roughly(left)}" if left > 0 else "due"


def roughly(duration_ms: int) -> str:
    """A duration in its largest unit, rounded down."""
    seconds = max(duration_ms // 1000, 0)
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def date(at_ms: int | None) -> str:
    """A moment in UTC, to the second."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _now_ms() -> int:
    return int(time.time() * 1000)
