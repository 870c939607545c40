"""Callbacks about events in a run that did not fail: dead letters, lag."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Context

Callback = Callable[["Context"], Any]
"""A function of the task's context; Airflow's notifiers are such functions."""

Callbacks = Callback | Sequence[Callback] | None

log = logging.getLogger(__name__)


def as_list(callbacks: Callbacks) -> list[Callback]:
    """The callbacks in a parameter that accepts none, one or several."""
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)


def call(callbacks: Sequence[Callback], context: Context, why: str) -> None:
    """Call all of them. One that fails is logged: the run is done, even if the notification fails."""
    for callback in callbacks:
        try:
            callback(context)
        except Exception:
            log.exception("The callback %r, called because of %s, failed", callback, why)


def dead_letters(report: Mapping[str, Any]) -> int:
    """How many records the run could not move."""
    return int(report["records"].get("dead_lettered", 0))


def lag(report: Mapping[str, Any]) -> int:
    """How many records are left to read, in all topics."""
    return sum(report["lag"].values())
