"""One action on several connectors, and what happened to each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.control.overview.watch import Watch
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.run_states import RunState
from airflow_kconnect.control.runs import NoRuns
from airflow_kconnect.stores.target_states import TargetState


class Action(StrEnum):
    """What is done to the connectors."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART_FAILED = "restart_failed"


_TARGETS = {
    Action.PAUSE: (TargetState.PAUSED, "is paused"),
    Action.RESUME: (TargetState.STARTED, "is resumed"),
    Action.STOP: (TargetState.STOPPED, "is stopped"),
}
_WORDS = {
    RunState.RUNNING: "is running",
    RunState.PAUSED: "is paused",
    RunState.STOPPED: "is stopped",
    RunState.NEVER_RUN: "has never run",
}


def act(
    plane: ControlPlane, watch: Watch, action: Action, names: Iterable[str], refusal: Callable[[str], str | None]
) -> list[dict[str, Any]]:
    """Do it, and say for each name whether it was done.

    :param refusal: why it may not be done to a connector; None if it may: then the connector is registered.
    :raises RetriableError: the broker is unavailable. Nothing was done, or it may be done again.
    """
    refused = {name: refusal(name) for name in dict.fromkeys(names)}
    allowed = [name for name, why in refused.items() if why is None]
    if action is Action.RESTART_FAILED:
        done = _restarted(plane, watch, allowed)
    else:
        target, text = _TARGETS[action]
        if allowed:
            plane.set_target_states(allowed, target)
        done = {name: (True, text) for name in allowed}
    results = {name: (False, why or "") for name, why in refused.items()} | done
    return [{"name": name, "done": was, "message": message} for name, (was, message) in results.items()]


def _restarted(plane: ControlPlane, watch: Watch, names: list[str]) -> dict[str, tuple[bool, str]]:
    if isinstance(plane.runs, NoRuns):
        text = "nothing here starts runs: use Airflow, or `kconnect run`"
        return dict.fromkeys(names, (False, text))
    states = {row["name"]: RunState(row["run_state"]) for row in watch.look().rows(names)}
    return {name: _restarted_one(plane, name, state) for name, state in states.items()}


def _restarted_one(plane: ControlPlane, name: str, state: RunState) -> tuple[bool, str]:
    if state is not RunState.FAILED:
        return False, _WORDS.get(state, "has not failed")
    try:
        plane.runs.start(name)
    except ConnectError as error:
        return False, str(error)
    return True, "a run is started"
