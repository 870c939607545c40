"""Replays: a run that moves an interval or the dead letters of a connector again, apart from its live offsets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_kconnect.control.configurations import RequestError
from airflow_kconnect.control.errors import ForbiddenError
from airflow_kconnect.control.kinds import kind
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.runs import ReplaysRuns
from airflow_kconnect.runs.replays import check_dead_letters, check_replay, interval_replay
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC


def can_replay(plane: ControlPlane) -> bool:
    """Whether runs can be started from here."""
    return isinstance(plane.runs, ReplaysRuns)


def of_interval(plane: ControlPlane, name: str, begin: str, end: str, *, dry_run: bool = False) -> dict[str, Any]:
    """Start a run that moves an interval again.

    :param begin: :param end: ISO 8601, in UTC if there is no zone; the end is exclusive.
    :param dry_run: the run only reports what would be moved.
    :returns: `run_id`, and `params` of the run.
    :raises NotFoundError: there is no such connector. :raises ForbiddenError: no runs are started from here.
    :raises ConfigError: it is not an interval, or the connector cannot replay.
    :raises RetriableError: the connector has no DAG yet.
    """
    config = plane.registered_config(name)
    try:
        replay = interval_replay(name, f"{begin}/{end}")
    except ValueError as error:
        raise RequestError({"from": [str(error)]}) from None
    check_replay(config)
    interval = {"from": _moment(replay.start_ms), "to": _moment(replay.end_ms)}
    return _started(plane, name, {"mode": "replay", **interval, "dry_run": dry_run})


def of_dead_letters(plane: ControlPlane, name: str, *, dry_run: bool = False) -> dict[str, Any]:
    """Start a run that sends the dead letters of a sink through it again; see `of_interval`."""
    config = plane.registered_config(name)
    if kind(config, plane.worker) != "sink":
        raise RequestError({"dead_letters": [f"{name} is not a sink: only dead letters of sinks can be replayed"]})
    if not config.get(DEAD_LETTER_TOPIC, "").strip():
        raise RequestError({"dead_letters": [f"`{DEAD_LETTER_TOPIC}` is not set: {name} has no dead letters"]})
    check_dead_letters(config)
    return _started(plane, name, {"mode": "dead_letters", "dry_run": dry_run})


def _started(plane: ControlPlane, name: str, params: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(plane.runs, ReplaysRuns):
        text = "This server starts no runs: replay in Airflow, or with `kconnect run --replay` or `kconnect dlq replay`"
        raise ForbiddenError(text)
    return {"run_id": plane.runs.replay(name, params), "params": params}


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()
